//! The table of token digests.

use chrono::{DateTime, Utc};
use rusqlite::types::Type;
use rusqlite::{Connection, ErrorCode, Row, params};

use crate::store::engine::StoreError;
use crate::store::sqlite::error::failed;
use crate::token::{StoredToken, TokenDigest, TokenName};

pub fn all(connection: &Connection) -> rusqlite::Result<Vec<StoredToken>> {
    connection
        .prepare_cached(
            "SELECT name, digest, first_characters, created_at, expires_at \
             FROM tokens ORDER BY name",
        )?
        .query_map([], token)?
        .collect()
}

pub fn add(connection: &Connection, token: &StoredToken) -> Result<(), StoreError> {
    connection
        .execute(
            "INSERT INTO tokens (name, digest, first_characters, created_at, expires_at) \
             VALUES (?1, ?2, ?3, ?4, ?5)",
            params![
                token.name.as_str(),
                token.digest.0,
                token.first_characters,
                token.created_at.timestamp(),
                token.expires_at.map(|expiry| expiry.timestamp()),
            ],
        )
        .map(drop)
        .map_err(|error| match error.sqlite_error_code() {
            Some(ErrorCode::ConstraintViolation) => StoreError::TokenNameTaken(token.name.clone()),
            _ => failed("store the token")(error),
        })
}

pub fn revoke(connection: &Connection, name: &TokenName) -> Result<(), StoreError> {
    match connection
        .execute("DELETE FROM tokens WHERE name = ?1", [name.as_str()])
        .map_err(failed("revoke the token"))?
    {
        0 => Err(StoreError::NoSuchToken(name.clone())),
        _ => Ok(()),
    }
}

fn token(row: &Row<'_>) -> rusqlite::Result<StoredToken> {
    Ok(StoredToken {
        name: name(&row.get::<_, String>(0)?)?,
        digest: TokenDigest(row.get(1)?),
        first_characters: row.get(2)?,
        created_at: time(row.get(3)?),
        expires_at: row.get::<_, Option<i64>>(4)?.map(time),
    })
}

fn name(text: &str) -> rusqlite::Result<TokenName> {
    text.parse()
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(error)))
}

/// A time past the calendar was not written by this service. It becomes the earliest time, so that
/// such a token has expired.
fn time(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(seconds, 0).unwrap_or(DateTime::<Utc>::MIN_UTC)
}
