//! The tables, and the header field that marks a file as a store.
//!
//! The field is `application_id` (<https://sqlite.org/fileformat2.html#application_id>), at byte 68
//! of the file. It is written once, when the store is complete.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rusqlite::Connection;

use crate::Names;
use crate::engine::LAYOUT;
use crate::error::{At, Error, Kind};
use crate::sqlite::files::OPEN;
use crate::sqlite::url;

/// The columns of the tokens. `digest` is the SHA-256 of a token; times are Unix seconds.
const TOKEN_COLUMNS: &str = "
        name TEXT PRIMARY KEY,
        digest BLOB NOT NULL UNIQUE,
        first_characters TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        expires_at INTEGER
";

/// Fails if the file is not a store of this release, according to its header. The header is read
/// without SQLite, which would change a file that is not ours: it would roll back its journal, or
/// checkpoint its WAL, or delete the WAL beside an empty file.
pub fn require_store(path: &Path, file: &File, names: &Names) -> Result<(), Error> {
    let mut header = [0; 100];
    // The missing fields of a shorter file are zero.
    let length = file.read_at(&mut header, 0).at(url(path), OPEN)?;
    let id = &header[68..72];
    let url = url(path);
    if length == 0 {
        let message = format!(
            "the file of {url} is empty (0 bytes). A first start that was killed may have left it: \
             if no store was there before, remove the file and the files beside it. Otherwise put \
             the store back"
        );
        return Err(Error::new(Kind::Other, message));
    }
    let is_ours = header.starts_with(b"SQLite format 3\0") && id.starts_with(&names.application_id);
    if !is_ours {
        Err(Error::not_a_store(url))
    } else if id[3] == LAYOUT {
        Ok(())
    } else {
        Err(Error::other_layout(url, i64::from(id[3])))
    }
}

/// Creates the store in one transaction, unless the database has tables already. Returns whether
/// the store was created.
pub fn create(connection: &mut Connection, names: &Names) -> rusqlite::Result<bool> {
    let transaction = connection.transaction()?;
    if !is_empty(&transaction)? {
        return Ok(false);
    }
    create_tables(&transaction, names)?;
    mark_as_store(&transaction, names)?;
    transaction.commit()?;
    Ok(true)
}

/// Whether the database has no tables yet.
fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT count(*) = 0 FROM main.sqlite_schema", [], |row| row.get(0))
}

/// Creates the tables, without marking the database as a store.
pub fn create_tables(connection: &Connection, Names { table, .. }: &Names) -> rusqlite::Result<()> {
    // `id` is the rowid, so the rows are stored in the order of their ids.
    connection.execute_batch(&format!(
        "CREATE TABLE {table} (id INTEGER PRIMARY KEY, json TEXT NOT NULL) STRICT;
        CREATE TABLE tokens ({TOKEN_COLUMNS}) STRICT, WITHOUT ROWID;"
    ))
}

/// Marks the database as a complete store, by three letters of the service and the layout version.
pub fn mark_as_store(connection: &Connection, names: &Names) -> rusqlite::Result<()> {
    let [first, second, third] = names.application_id;
    let id = u32::from_be_bytes([first, second, third, LAYOUT]);
    connection.pragma_update(None, "application_id", id)
}

/// Runs a pragma such as `integrity_check`, and returns what it reports as damage
/// (<https://sqlite.org/pragma.html#pragma_integrity_check>).
pub fn damage(connection: &Connection, pragma: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(&format!("PRAGMA {pragma}"))?;
    let mut lines =
        statement.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    lines.retain(|line| line != "ok");
    Ok(lines)
}

/// Returns the faults of the database: the damage that SQLite finds, and the tables that differ
/// from this layout. Empty if the store is sound. Indexes are not compared, because operators may
/// add them, and the tables of SQLite's planner and of litestream belong to the file, not to the
/// store.
pub fn faults(connection: &Connection, names: &Names) -> rusqlite::Result<Vec<String>> {
    let mut faults = damage(connection, "main.integrity_check")?;
    let expected = Connection::open_in_memory()?;
    create_tables(&expected, names)?;
    let (found, expected) = (definitions(connection)?, definitions(&expected)?);
    let others = found.symmetric_difference(&expected).map(|(name, _)| name.as_str());
    let others: BTreeSet<_> = others.collect();
    if !others.is_empty() {
        let others = Vec::from_iter(others).join(", ");
        faults.push(format!("these tables do not match layout version {LAYOUT}: {others}"));
    }
    Ok(faults)
}

/// Returns the tables, views and triggers of a database: their names and their `CREATE` statements
/// without white space.
fn definitions(connection: &Connection) -> rusqlite::Result<BTreeSet<(String, String)>> {
    let query = "SELECT name, type || coalesce(sql, '') FROM main.sqlite_schema
        WHERE type <> 'index' AND name NOT LIKE 'sqlite\\_stat%' ESCAPE '\\'
        AND name NOT LIKE '\\_litestream\\_%' ESCAPE '\\'";
    let without_space = |sql: String| sql.split_whitespace().collect::<String>();
    let mut statement = connection.prepare(query)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, without_space(row.get(1)?))))?;
    rows.collect()
}
