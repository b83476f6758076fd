//! A bearer token, its name, and what a store keeps of it.
//!
//! A token is text in two places only: where it is parsed, and where it is shown to its owner,
//! once. Nothing here may print one.

mod bearer;
mod name;

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::Serialize;

pub use bearer::{PREFIX, SHOWN, Token, TokenDigest};
pub use name::TokenName;

/// For how long a server accepts the tokens that it has read. So a command that has changed the tokens
/// waits for that time: then every server has read the change, or accepts no token.
pub const LEASE: Duration = Duration::from_secs(2);

/// A token as a store knows it: never the token itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StoredToken {
    /// Unique among the tokens of a store.
    pub name: TokenName,
    /// The SHA-256 of the token.
    #[serde(skip)]
    pub digest: TokenDigest,
    /// The first characters of the token, to tell it from others.
    pub first_characters: String,
    /// When it was issued, to the second.
    pub created_at: DateTime<Utc>,
    /// The time from which it is refused, to the second. Without one it never expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<DateTime<Utc>>,
}

impl StoredToken {
    /// Issues a token: the token for its owner, and what a store has to keep so that the token is
    /// accepted.
    pub fn issue(name: TokenName, expires_at: Option<DateTime<Utc>>) -> (Token, Self) {
        let token = Token::issue();
        let first_characters = token.reveal()[..SHOWN].to_owned();
        let (digest, created_at) = (token.digest(), Utc::now());
        (token, Self { name, digest, first_characters, created_at, expires_at })
    }

    /// Whether it is refused by now.
    pub fn has_expired(&self) -> bool {
        self.expires_at.is_some_and(|expiry| expiry <= Utc::now())
    }
}
