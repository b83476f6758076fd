//! A token as the store keeps it: its name, its digest and its first characters, never the whole
//! token.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::error::{Error, Kind};

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
    /// The first characters of the token, for people to tell tokens apart.
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

const LONGEST: usize = 64;

/// The name of a token: 1 to 64 letters, digits, `.`, `_` or `-`. It is safe to print in tables and
/// logs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TokenName(String);

/// The text is not a valid token name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a token's name is 1 to 64 letters, digits, `.`, `_` or `-`")]
pub struct InvalidName;

impl TokenName {
    /// The name of the token that the server creates for a new store.
    pub fn first() -> Self {
        Self("first".into())
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TokenName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let is_valid = (1..=LONGEST).contains(&text.len()) && text.bytes().all(allowed);
        if is_valid { Ok(Self(text.to_owned())) } else { Err(InvalidName) }
    }
}

impl fmt::Display for TokenName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Reads all tokens. Times are Unix seconds.
pub(crate) const READ: &str =
    "SELECT name, digest, first_characters, created_at, expires_at FROM tokens";

/// Adds a token. It fails with a constraint violation if the name is taken.
pub(crate) const ADD: &str = "INSERT INTO tokens \
    (name, digest, first_characters, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)";

/// Removes the token with that name.
pub(crate) const REVOKE: &str = "DELETE FROM tokens WHERE name = $1";

/// Converts the columns of a row to a token.
pub(crate) fn token_of_row(
    name: &str,
    digest: &[u8],
    first_characters: String,
    created_at: i64,
    expires_at: Option<i64>,
) -> Result<StoredToken, Error> {
    // A time that is out of range becomes the earliest time, so that such a token has expired.
    let time = |seconds| DateTime::from_timestamp(seconds, 0).unwrap_or(DateTime::<Utc>::MIN_UTC);
    let malformed = || Error::new(Kind::Damaged, "a token in the store is malformed");
    Ok(StoredToken {
        name: name.parse().map_err(|_| malformed())?,
        digest: TokenDigest(digest.try_into().map_err(|_| malformed())?),
        first_characters,
        created_at: time(created_at),
        expires_at: expires_at.map(time),
    })
}
