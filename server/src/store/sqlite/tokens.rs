//! The table of token digests.

use rusqlite::types::Type;
use rusqlite::{Connection, Row, Transaction, params};

use crate::store::token_row::{self, COLUMNS};
use crate::token::{StoredToken, TokenName};

/// Every token, in the order of their names.
pub fn all(connection: &Connection) -> rusqlite::Result<Vec<StoredToken>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM tokens ORDER BY name"))?
        .query_map([], token)?
        .collect()
}

/// Adds a token. Fails with a violated constraint if there is one of that name.
pub fn add(transaction: &Transaction<'_>, token: &StoredToken) -> rusqlite::Result<()> {
    let row = params![
        token.name.as_str(),
        token.digest.0,
        token.first_characters,
        token.created_at.timestamp(),
        token.expires_at.map(|expiry| expiry.timestamp()),
    ];
    transaction
        .execute(&format!("INSERT INTO tokens ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5)"), row)
        .map(drop)
}

/// Removes a token. Returns whether there was one of that name.
pub fn revoke(transaction: &Transaction<'_>, name: &TokenName) -> rusqlite::Result<bool> {
    let revoked = transaction.execute("DELETE FROM tokens WHERE name = ?1", [name.as_str()])?;
    Ok(revoked > 0)
}

fn token(row: &Row<'_>) -> rusqlite::Result<StoredToken> {
    let (name, digest): (String, Vec<u8>) = (row.get(0)?, row.get(1)?);
    let token = token_row::token(&name, &digest, row.get(2)?, row.get(3)?, row.get(4)?);
    token.map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, error.into()))
}
