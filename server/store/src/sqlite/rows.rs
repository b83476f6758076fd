//! Reading rows, and reading and changing tokens, on the second connection. The first one commits.

use std::sync::Arc;

use rusqlite::types::Type;
use rusqlite::wal::CheckpointMode;
use rusqlite::{Connection, ErrorCode};

use crate::Names;
use crate::engine::{PAGE_BYTES, Row};
use crate::error::Error;
use crate::sqlite::schema;
use crate::sqlite::wal::try_checkpoint;
use crate::token::{ADD, READ, REVOKE, StoredToken, TokenName, token_of_row};

/// Reads the next rows after an id, in the order of the ids. Each page is a transaction of its own,
/// so that the WAL can be reset between two pages.
pub fn page(
    connection: &Connection,
    Names { table, .. }: &Names,
    after: Option<i64>,
    limit: usize,
) -> rusqlite::Result<Vec<Row>> {
    let condition = after.map_or(String::new(), |id| format!("WHERE id > {id}"));
    let query = format!("SELECT id, json FROM {table} {condition} ORDER BY id");
    let mut statement = connection.prepare(&query)?;
    let mut rows = statement.query([])?;
    let mut page = Vec::new();
    let mut bytes = 0;
    while page.len() < limit
        && bytes < PAGE_BYTES
        && let Some(row) = rows.next()?
    {
        let id = row.get(0)?;
        let json: Arc<str> = row
            .get(1)
            .map_err(|error| malformed_row(format!("the text of the id {id}: {error}")))?;
        bytes += json.len();
        page.push(Row { id, json });
    }
    Ok(page)
}

/// Counts the rows, after a check of the database's structure: in a damaged database the count and
/// the pages may lack the same rows.
pub fn count(connection: &Connection, Names { table, .. }: &Names) -> Result<u64, Error> {
    schema::require_sound(connection, "main.quick_check(1)")?;
    let query = format!("SELECT count(*) FROM {table}");
    let count = connection.query_row(&query, [], |row| row.get(0));
    Ok(count.map(i64::unsigned_abs)?)
}

/// Returns the error for a row that this service did not write.
fn malformed_row(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, cause.into())
}

/// Reads all tokens in the order of their names.
pub fn tokens(connection: &Connection) -> rusqlite::Result<Vec<StoredToken>> {
    connection
        .prepare_cached(&format!("{READ} ORDER BY name"))?
        .query_map([], |row| {
            let name: String = row.get(0)?;
            let digest: Vec<u8> = row.get(1)?;
            token_of_row(&name, &digest, row.get(2)?, row.get(3)?, row.get(4)?)
                .map_err(malformed_row)
        })?
        .collect()
}

/// Adds a token unless its name is taken. Returns whether it was added.
pub fn add_token(connection: &mut Connection, token: &StoredToken) -> rusqlite::Result<bool> {
    prepare(connection)?;
    match insert_token(connection, token) {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
            Ok(false)
        }
        added => added.map(|()| true),
    }
}

/// Adds a token.
pub fn insert_token(connection: &Connection, token: &StoredToken) -> rusqlite::Result<()> {
    let row = (
        token.name.as_str(),
        token.digest.0,
        &token.first_characters,
        token.created_at.timestamp(),
        token.expires_at.map(|expiry| expiry.timestamp()),
    );
    connection.execute(ADD, row).map(drop)
}

/// Removes the token with that name, if there is one.
pub fn revoke_token(connection: &mut Connection, name: &TokenName) -> rusqlite::Result<()> {
    prepare(connection)?;
    connection.execute(REVOKE, [name.as_str()]).map(drop)
}

/// Checkpoints the WAL before a change. After a crash the pages of the WAL may not be on the disk,
/// and a change written behind them could be lost with them (`wal.rs`).
///
/// If a server is running, it has checkpointed the WAL at its start, so it does not matter if this
/// checkpoint is blocked.
fn prepare(connection: &mut Connection) -> rusqlite::Result<()> {
    try_checkpoint(connection, CheckpointMode::TRUNCATE).map(drop)
}
