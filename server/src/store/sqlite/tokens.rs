//! The tables of token digests and of their changes.

use rusqlite::types::Type;
use rusqlite::{Connection, ErrorCode, Row, Transaction, params};

use crate::store::error::StoreError;
use crate::store::sqlite::error::failed;
use crate::store::token_row::{self, COLUMNS};
use crate::token::{StoredToken, TokenName};

/// Every token, in the order of their names.
pub fn all(connection: &Connection) -> Result<Vec<StoredToken>, StoreError> {
    let read = || {
        connection
            .prepare_cached(&format!("SELECT {COLUMNS} FROM tokens ORDER BY name"))?
            .query_map([], token)?
            .collect::<rusqlite::Result<_>>()
    };
    read().map_err(failed("read the tokens"))
}

/// Adds a token to a store that has none of that name.
pub fn insert(connection: &Connection, token: &StoredToken) -> rusqlite::Result<()> {
    let row = params![
        token.name.as_str(),
        token.digest.0,
        token.first_characters,
        token.created_at.timestamp(),
        token.expires_at.map(|expiry| expiry.timestamp()),
    ];
    connection
        .prepare_cached(&format!("INSERT INTO tokens ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5)"))?
        .execute(row)
        .map(drop)
}

pub fn add(connection: &mut Connection, token: &StoredToken) -> Result<(), StoreError> {
    let mut add = || {
        let transaction = connection.transaction()?;
        insert(&transaction, token)?;
        count_change(&transaction)?;
        transaction.commit()
    };
    add().map_err(|error: rusqlite::Error| match error.sqlite_error_code() {
        Some(ErrorCode::ConstraintViolation) => StoreError::TokenNameTaken(token.name.clone()),
        _ => failed("store the token")(error),
    })
}

pub fn revoke(connection: &mut Connection, name: &TokenName) -> Result<(), StoreError> {
    let mut revoke = || {
        let transaction = connection.transaction()?;
        let revoked = transaction.execute("DELETE FROM tokens WHERE name = ?1", [name.as_str()])?;
        count_change(&transaction)?;
        if revoked > 0 {
            transaction.commit()?;
        }
        Ok(revoked)
    };
    match revoke().map_err(|error: rusqlite::Error| failed("revoke the token")(error))? {
        0 => Err(StoreError::NoSuchToken(name.clone())),
        _ => Ok(()),
    }
}

fn count_change(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute("UPDATE token_changes SET made = made + 1", []).map(drop)
}

pub fn changes(connection: &Connection) -> rusqlite::Result<u32> {
    connection.prepare_cached("SELECT made FROM token_changes")?.query_row([], |row| row.get(0))
}

/// Writes only if there is something new to confirm.
pub fn confirm(connection: &Connection, changes: u32) -> rusqlite::Result<()> {
    let confirmed: u32 = connection
        .prepare_cached("SELECT confirmed FROM token_changes")?
        .query_row([], |row| row.get(0))?;
    if confirmed != changes {
        connection.execute("UPDATE token_changes SET confirmed = ?1", params![changes])?;
    }
    Ok(())
}

pub fn are_confirmed(connection: &Connection) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT confirmed >= made FROM token_changes")?
        .query_row([], |row| row.get(0))
}

fn token(row: &Row<'_>) -> rusqlite::Result<StoredToken> {
    let (name, digest): (String, Vec<u8>) = (row.get(0)?, row.get(1)?);
    let token = token_row::token(&name, &digest, row.get(2)?, row.get(3)?, row.get(4)?);
    token.map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, error.into()))
}
