//! A token as a store keeps it: its name, its digest and its first eight characters, never the
//! whole token.

mod name;

use chrono::{DateTime, Utc};
use serde::Serialize;

pub use name::{InvalidName, TokenName};

/// The SHA-256 of a token, by which a request's token is found.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TokenDigest(pub [u8; 32]);

/// A token as a store knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StoredToken {
    /// Unique among the tokens of a store.
    pub name: TokenName,
    /// The SHA-256 of the token.
    #[serde(skip)]
    pub digest: TokenDigest,
    /// The first eight characters of the token, by which a person tells it from others.
    pub first_characters: String,
    /// When it was issued, to the second.
    pub created_at: DateTime<Utc>,
    /// The time from which it is refused, to the second. Without one it never expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<DateTime<Utc>>,
}

impl StoredToken {
    /// Whether it is refused by now.
    pub fn has_expired(&self) -> bool {
        self.expires_at.is_some_and(|expiry| expiry <= Utc::now())
    }
}
