//! The tables, and whether a store is sound.

use rusqlite::Connection;

use crate::store::sqlite::header::LAYOUT;

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

/// What SQLite finds wrong with the file, and whether the tables are those of this layout; nothing
/// if the store is sound (<https://sqlite.org/pragma.html#pragma_integrity_check>). An index is the
/// operator's to add.
pub fn faults(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut check = connection.prepare("PRAGMA integrity_check")?;
    let found: Vec<String> = check.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut faults: Vec<_> = found.into_iter().filter(|line| line != "ok").collect();
    let expected = Connection::open_in_memory()?;
    expected.execute_batch(TABLES)?;
    if tables(connection)? != tables(&expected)? {
        faults.push(format!("the tables are not those of layout version {LAYOUT}"));
    }
    Ok(faults)
}

/// What the tables, views and triggers are made by, without white space.
fn tables(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut tables = connection.prepare(
        "SELECT type || name || coalesce(sql, '') FROM sqlite_schema
            WHERE type <> 'index' AND name NOT LIKE 'sqlite\\_stat%' ESCAPE '\\'
            ORDER BY type, name",
    )?;
    let texts = tables.query_map([], |row| row.get::<_, String>(0))?;
    texts.map(|text| Ok(text?.split_whitespace().collect())).collect()
}
