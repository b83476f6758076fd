//! Whether a store is sound.

use rusqlite::Connection;

use crate::store::sqlite::schema;

/// What SQLite finds wrong with the file, and whether the tables are those of its schema version;
/// nothing if the store is sound (<https://sqlite.org/pragma.html#pragma_integrity_check>).
pub fn faults(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut check = connection.prepare("PRAGMA integrity_check")?;
    let found: Vec<String> = check.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut faults: Vec<_> = found.into_iter().filter(|line| line != "ok").collect();
    let version = schema::version(connection)?.unwrap_or_default();
    if tables(connection)? != tables(&schema::fresh(version)?)? {
        faults.push(format!("the tables are not those of schema version {version}"));
    }
    Ok(faults)
}

/// What the tables and indexes are made by, without white space.
fn tables(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut tables = connection.prepare(
        "SELECT type || name || coalesce(sql, '') FROM sqlite_schema ORDER BY type, name",
    )?;
    let texts = tables.query_map([], |row| row.get::<_, String>(0))?;
    texts.map(|text| Ok(text?.split_whitespace().collect())).collect()
}
