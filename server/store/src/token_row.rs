//! The row of a token in the table `tokens`, which both engines share.

use chrono::{DateTime, Utc};

use crate::token::{StoredToken, TokenDigest};

/// Reads all tokens. Times are Unix seconds.
pub const READ: &str = "SELECT name, digest, first_characters, created_at, expires_at FROM tokens";

/// Returns the statement that adds a token to a table. It fails with a constraint violation if the
/// name is taken.
pub fn add(table: &str) -> String {
    format!(
        "INSERT INTO {table} (name, digest, first_characters, created_at, expires_at) \
         VALUES ($1, $2, $3, $4, $5)"
    )
}

/// Removes the token with that name.
pub const REVOKE: &str = "DELETE FROM tokens WHERE name = $1";

/// A row of the table `tokens` that this service did not write.
#[derive(Debug, thiserror::Error)]
#[error("a token in the store is malformed")]
pub struct Malformed;

/// Converts the columns of a row to a token.
pub fn token(
    name: &str,
    digest: &[u8],
    first_characters: String,
    created_at: i64,
    expires_at: Option<i64>,
) -> Result<StoredToken, Malformed> {
    // A time that is out of range becomes the earliest time, so that such a token has expired.
    let time = |seconds| DateTime::from_timestamp(seconds, 0).unwrap_or(DateTime::<Utc>::MIN_UTC);
    Ok(StoredToken {
        name: name.parse().map_err(|_| Malformed)?,
        digest: TokenDigest(digest.try_into().map_err(|_| Malformed)?),
        first_characters,
        created_at: time(created_at),
        expires_at: expires_at.map(time),
    })
}
