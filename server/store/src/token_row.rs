//! A token as the engines' tables `tokens` hold it.

use chrono::{DateTime, Utc};

use crate::token::{StoredToken, TokenDigest};

/// Reads every token. Times are Unix seconds.
pub const READ: &str = "SELECT name, digest, first_characters, created_at, expires_at FROM tokens";

/// Adds a token. Fails with a violated constraint if there is one of that name.
pub const ADD: &str = "INSERT INTO tokens (name, digest, first_characters, created_at, expires_at) \
    VALUES ($1, $2, $3, $4, $5)";

/// Removes the token of that name.
pub const REVOKE: &str = "DELETE FROM tokens WHERE name = $1";

/// The row was not written by this service.
#[derive(Debug, thiserror::Error)]
#[error("a token of the store is malformed")]
pub struct Malformed;

/// The token of a row.
pub fn token(
    name: &str,
    digest: &[u8],
    first_characters: String,
    created_at: i64,
    expires_at: Option<i64>,
) -> Result<StoredToken, Malformed> {
    // A time past the calendar becomes the earliest time, so that such a token has expired.
    let time = |seconds| DateTime::from_timestamp(seconds, 0).unwrap_or(DateTime::<Utc>::MIN_UTC);
    Ok(StoredToken {
        name: name.parse().map_err(|_| Malformed)?,
        digest: TokenDigest(digest.try_into().map_err(|_| Malformed)?),
        first_characters,
        created_at: time(created_at),
        expires_at: expires_at.map(time),
    })
}
