//! A token as the engines' tables `tokens` hold it.

use chrono::{DateTime, Utc};

use crate::token::{StoredToken, TokenDigest};

/// The columns, as a statement names them. Times are Unix seconds.
pub const COLUMNS: &str = "name, digest, first_characters, created_at, expires_at";

/// The row was not written by this service.
#[derive(Debug, thiserror::Error)]
#[error("a token of the store is malformed")]
pub struct MalformedToken;

/// The token of a row.
pub fn token(
    name: &str,
    digest: &[u8],
    first_characters: String,
    created_at: i64,
    expires_at: Option<i64>,
) -> Result<StoredToken, MalformedToken> {
    Ok(StoredToken {
        name: name.parse().map_err(|_| MalformedToken)?,
        digest: TokenDigest(digest.try_into().map_err(|_| MalformedToken)?),
        first_characters,
        created_at: time(created_at),
        expires_at: expires_at.map(time),
    })
}

/// A time past the calendar becomes the earliest time, so that such a token has expired.
fn time(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(seconds, 0).unwrap_or(DateTime::<Utc>::MIN_UTC)
}
