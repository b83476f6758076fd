//! Reading and changing tokens.

use rusqlite::{Connection, ErrorCode};

use crate::sqlite::rows::malformed_row;
use crate::sqlite::wal::try_checkpoint_truncate;
use crate::token::{StoredToken, TokenName};
use crate::token_row::{self, READ, REVOKE, add};

/// Reads all tokens in the order of their names.
pub fn tokens(connection: &Connection) -> rusqlite::Result<Vec<StoredToken>> {
    connection
        .prepare_cached(&format!("{READ} ORDER BY name"))?
        .query_map([], |row| {
            let name: String = row.get(0)?;
            let digest: Vec<u8> = row.get(1)?;
            token_row::token(&name, &digest, row.get(2)?, row.get(3)?, row.get(4)?)
                .map_err(malformed_row)
        })?
        .collect()
}

/// Adds a token unless its name is taken. Returns whether it was added.
pub fn add_token(connection: &mut Connection, token: &StoredToken) -> rusqlite::Result<bool> {
    prepare(connection)?;
    match insert(connection, "main", token) {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
            Ok(false)
        }
        added => added.map(|()| true),
    }
}

/// Adds a token to a database of the connection.
pub fn insert(
    connection: &Connection,
    database: &str,
    token: &StoredToken,
) -> rusqlite::Result<()> {
    let row = (
        token.name.as_str(),
        token.digest.0,
        &token.first_characters,
        token.created_at.timestamp(),
        token.expires_at.map(|expiry| expiry.timestamp()),
    );
    connection.execute(&add(&format!("{database}.tokens")), row).map(drop)
}

/// Removes the token with that name. Returns whether there was one.
pub fn revoke_token(connection: &mut Connection, name: &TokenName) -> rusqlite::Result<bool> {
    prepare(connection)?;
    Ok(connection.execute(REVOKE, [name.as_str()])? > 0)
}

/// Checkpoints the WAL before a change. After a crash the pages of the WAL may not be on the disk,
/// and a change written behind them could be lost with them (`wal.rs`).
///
/// If a server is running, it has checkpointed the WAL at its start, so it does not matter if this
/// checkpoint is blocked.
fn prepare(connection: &mut Connection) -> rusqlite::Result<()> {
    try_checkpoint_truncate(connection).map(drop)
}
