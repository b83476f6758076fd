//! A token as the store keeps it: its name, its digest and its first eight characters, never the
//! whole token.

mod name;

use chrono::{DateTime, Utc};
use serde::Serialize;

pub use name::{InvalidName, TokenName};

/// The SHA-256 of a token. The token of a request is looked up by it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TokenDigest(pub [u8; 32]);

/// A token as the store keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StoredToken {
    /// Unique among the tokens of a store.
    pub name: TokenName,
    /// The SHA-256 of the token.
    #[serde(skip)]
    pub digest: TokenDigest,
    /// The first eight characters of the token, for people to tell tokens apart.
    pub first_characters: String,
    /// When the token was created, to the second.
    pub created_at: DateTime<Utc>,
    /// When the token expires, to the second. `None` if it never expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<DateTime<Utc>>,
}

impl StoredToken {
    /// Whether the token has expired.
    pub fn has_expired(&self) -> bool {
        self.expires_at.is_some_and(|expiry| expiry <= Utc::now())
    }
}
