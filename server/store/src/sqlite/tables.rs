//! The tables: how they are made, read and checked.

use std::collections::BTreeMap;
use std::sync::Arc;

use rusqlite::Connection;
use rusqlite::types::Type;

use crate::engine::{PAGE_BYTES, PAGE_ROWS, Row};
use crate::error::Cause;
use crate::layout::LAYOUT;
use crate::token::StoredToken;
use crate::token_row::{self, READ};

/// `id` is the rowid, so plants lie in the order of their ids; `plant` is the JSON text of a plant.
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

/// The plants behind that id. A transaction of its own, so the WAL may start over between two
/// pages.
pub fn page(connection: &Connection, after: Option<i64>) -> rusqlite::Result<Vec<Row>> {
    let condition = after.map_or(String::new(), |id| format!("WHERE id > {id}"));
    let query = format!("SELECT id, plant FROM plants {condition} ORDER BY id");
    let mut statement = connection.prepare(&query)?;
    let mut rows = statement.query([])?;
    let mut page = Vec::new();
    let mut bytes = 0;
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
            let name: String = row.get(0)?;
            let digest: Vec<u8> = row.get(1)?;
            token_row::token(&name, &digest, row.get(2)?, row.get(3)?, row.get(4)?).map_err(unfit)
        })?
        .collect()
}

/// What SQLite finds wrong with the file, and which tables are not those of this layout; nothing if
/// the store is sound (<https://sqlite.org/pragma.html#pragma_integrity_check>). An index is the
/// operator's to add.
pub fn faults(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut faults = texts(connection, "PRAGMA integrity_check")?;
    faults.retain(|line| line != "ok");
    let expected = Connection::open_in_memory()?;
    expected.execute_batch(TABLES)?;
    let others = differences(&definitions(connection)?, &definitions(&expected)?);
    if !others.is_empty() {
        let others = others.join(", ");
        faults.push(format!("the tables are not those of layout version {LAYOUT}: {others}"));
    }
    Ok(faults)
}

/// The names of all tables, views and triggers, each with its statement, without white space.
type Definitions = BTreeMap<String, String>;

fn definitions(connection: &Connection) -> rusqlite::Result<Definitions> {
    let query = "SELECT name, type || coalesce(sql, '') FROM sqlite_schema
        WHERE type <> 'index' AND name NOT LIKE 'sqlite\\_stat%' ESCAPE '\\'";
    let without_space = |sql: String| sql.split_whitespace().collect::<String>();
    let mut statement = connection.prepare(query)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, without_space(row.get(1)?))))?;
    rows.collect()
}

/// What is found and is not as expected, by its name.
fn differences(found: &Definitions, expected: &Definitions) -> Vec<String> {
    let missing = expected.keys().filter(|name| !found.contains_key(*name));
    let missing = missing.map(|name| format!("{name} is missing"));
    let others = found.iter().filter_map(|(name, definition)| match expected.get(name) {
        None => Some(format!("{name} is not one of them")),
        Some(expected) if expected != definition => Some(format!("{name} was changed")),
        Some(_) => None,
    });
    missing.chain(others).collect()
}

fn texts(connection: &Connection, query: &str) -> rusqlite::Result<Vec<String>> {
    connection.prepare(query)?.query_map([], |row| row.get(0))?.collect()
}
