//! What a store keeps of a token.

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::token::bearer::{Token, TokenDigest};
use crate::token::name::TokenName;

/// A token as a store knows it: never the token itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StoredToken {
    /// Unique among the tokens of a store.
    pub name: TokenName,
    /// The SHA-256 of the token.
    pub digest: TokenDigest,
    /// The first characters of the token, to tell it from others.
    pub first_characters: String,
    /// When it was issued, to the second.
    pub created_at: DateTime<Utc>,
    /// The time from which it is refused, to the second. Without one it never expires.
    pub expires_at: Option<DateTime<Utc>>,
}

impl StoredToken {
    /// Issues a token: the token for its owner, and what a store has to keep so that the token is
    /// accepted.
    pub fn issue(name: TokenName, expires_at: Option<DateTime<Utc>>) -> (Token, Self) {
        let token = Token::issue();
        let stored = Self {
            name,
            digest: token.digest(),
            first_characters: token.first_characters().to_owned(),
            created_at: Utc::now(),
            expires_at,
        };
        (token, stored)
    }

    /// Whether it is refused by now.
    pub fn has_expired(&self) -> bool {
        self.expires_at.is_some_and(|expiry| expiry <= Utc::now())
    }
}
