//! The tables, and the field of the file that says that it is a store.
//!
//! The field is `application_id` (<https://sqlite.org/fileformat2.html#application_id>), at byte 68
//! of the file: "PLS", and a byte that is twice the number of the layout. It is written once. The
//! releases before this one set the lowest bit while they served a store; it means nothing now.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rusqlite::Connection;

use crate::error::StoreError;
use crate::layout::LAYOUT;
use crate::sqlite::error::{failed, url};
use crate::sqlite::files::OPEN;

/// `id` is the rowid, so plants lie in the order of their ids; `plant` is the JSON text of a plant.
/// `digest` is the SHA-256 of a token; times are Unix seconds.
const TABLES: &str = "
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

/// Fails if the file is no store of this release. It is read without SQLite, which would change a
/// file of somebody else: it would roll back its journal, or copy its WAL into it.
pub fn require_store(path: &Path, file: &File) -> Result<(), StoreError> {
    let mut header = [0; 100];
    // A file that is shorter has no such field.
    file.read_at(&mut header, 0).map_err(failed(OPEN))?;
    let layout = header[71];
    let is_ours = header.starts_with(b"SQLite format 3\0") && header[68..].starts_with(b"PLS");
    match layout >> 1 {
        _ if !is_ours => Err(StoreError::NotAPlantStore(url(path))),
        LAYOUT => Ok(()),
        found => Err(StoreError::OtherLayout { url: url(path), found: found.into() }),
    }
}

/// Makes the tables in a new file.
pub fn create_tables(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(TABLES)?;
    let number = u32::from_be_bytes([b'P', b'L', b'S', LAYOUT << 1]);
    connection.pragma_update(None, "application_id", number)
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
