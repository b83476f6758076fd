//! The tables: how they are made, read and checked.

use std::sync::Arc;

use rusqlite::Connection;
use rusqlite::types::Type;

use crate::engine::{LAYOUT, PAGE_BYTES, PAGE_ROWS, Row};
use crate::error::Cause;
use crate::token::StoredToken;
use crate::token_row::{self, READ};

/// `id` is the rowid, so plants lie in the order of their ids; `plant` is the JSON text of the 200.
/// `digest` is the SHA-256 of a token; times are Unix seconds.
pub const TABLES: &str = "
    CREATE TABLE plants (
        id INTEGER PRIMARY KEY,
        plant TEXT NOT NULL
    ) STRICT;
    CREATE TABLE tokens (
        name TEXT PRIMARY KEY,
        digest BLOB NOT NULL UNIQUE,
        first_characters TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        expires_at INTEGER
    ) STRICT, WITHOUT ROWID;
";

/// The plants behind that id. A transaction of its own, so the WAL may start over between two pages.
pub fn page(connection: &Connection, after: Option<i64>) -> rusqlite::Result<Vec<Row>> {
    let place = after.map_or(String::new(), |id| format!("WHERE id > {id}"));
    let query = format!("SELECT id, plant FROM plants {place} ORDER BY id");
    let mut statement = connection.prepare(&query)?;
    let (mut rows, mut page, mut bytes) = (statement.query([])?, Vec::new(), 0);
    while page.len() < PAGE_ROWS
        && bytes < PAGE_BYTES
        && let Some(row) = rows.next()?
    {
        let id = row.get(0)?;
        let plant: Arc<str> =
            row.get(1).map_err(|error| unfit(format!("the plant of the id {id}: {error}")))?;
        bytes += plant.len();
        page.push(Row { id, plant });
    }
    Ok(page)
}

/// The service has not written this row.
fn unfit(cause: impl Into<Cause>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, cause.into())
}

/// Every token, in the order of their names.
pub fn tokens(connection: &Connection) -> rusqlite::Result<Vec<StoredToken>> {
    connection
        .prepare_cached(&format!("{READ} ORDER BY name"))?
        .query_map([], |row| {
            let (name, digest): (String, Vec<u8>) = (row.get(0)?, row.get(1)?);
            token_row::token(&name, &digest, row.get(2)?, row.get(3)?, row.get(4)?).map_err(unfit)
        })?
        .collect()
}

/// What SQLite finds wrong with the file, and whether the tables are those of this layout; nothing
/// if the store is sound (<https://sqlite.org/pragma.html#pragma_integrity_check>). An index is the
/// operator's to add.
pub fn faults(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut faults = texts(connection, "PRAGMA integrity_check")?;
    faults.retain(|line| line != "ok");
    let expected = Connection::open_in_memory()?;
    expected.execute_batch(TABLES)?;
    // What the tables, views and triggers are made by, without white space.
    let made_by = |connection: &Connection| -> rusqlite::Result<String> {
        let query = "SELECT type || name || coalesce(sql, '') FROM sqlite_schema
            WHERE type <> 'index' AND name NOT LIKE 'sqlite\\_stat%' ESCAPE '\\'
            ORDER BY type, name";
        Ok(texts(connection, query)?.concat().split_whitespace().collect())
    };
    if made_by(connection)? != made_by(&expected)? {
        faults.push(format!("the tables are not those of layout version {LAYOUT}"));
    }
    Ok(faults)
}

fn texts(connection: &Connection, query: &str) -> rusqlite::Result<Vec<String>> {
    connection.prepare(query)?.query_map([], |row| row.get(0))?.collect()
}
