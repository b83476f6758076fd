//! The schema, as the steps that lead to it: each brings a store from one version to the next.
//!
//! A new store takes all the steps, an older one those that it has not taken, so both end with the
//! same schema. A step that was released must never be changed: stores in use have taken it.

use rusqlite::{Connection, Transaction};

use crate::store::version::VERSION;

/// "PLNT": how a plant store is told from any other SQLite database
/// (<https://sqlite.org/fileformat2.html#application_id>).
const APPLICATION_ID: u32 = 0x504c_4e54;

/// The first step makes version 1, the second version 2, and so on.
const STEPS: &[&str] = &[
    // `id` is the rowid, so plants lie in the order of their ids. `digest` is the SHA-256 of a
    // token; times are Unix seconds.
    "
    CREATE TABLE plants (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        tag TEXT
    ) STRICT;
    CREATE TABLE tokens (
        name TEXT PRIMARY KEY,
        digest BLOB NOT NULL UNIQUE,
        first_characters TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        expires_at INTEGER
    ) STRICT, WITHOUT ROWID;
    ",
    // One row each: see `mark.rs`; how often the tokens have changed, and up to which change a
    // server has confirmed that it has read them.
    "
    CREATE TABLE log_mark (
        store BLOB NOT NULL,
        base BLOB NOT NULL,
        current BLOB NOT NULL,
        open INTEGER NOT NULL
    ) STRICT;
    INSERT INTO log_mark (store, base, current, open)
        VALUES (randomblob(16), x'', randomblob(16), 0);
    CREATE TABLE token_changes (
        made INTEGER NOT NULL,
        confirmed INTEGER NOT NULL
    ) STRICT;
    INSERT INTO token_changes (made, confirmed) VALUES (0, 0);
    ",
];

const _: () = assert!(
    STEPS.len() == VERSION as usize,
    "each step makes the next version: set VERSION in store/version.rs"
);

/// The schema version of a plant store, as `user_version` keeps it; none if the database is not a
/// plant store.
pub fn version(connection: &Connection) -> rusqlite::Result<Option<u32>> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, u32>(0));
    let is_ours = pragma("application_id")? == APPLICATION_ID;
    Ok(is_ours.then_some(pragma("user_version")?))
}

/// Makes the database a plant store of the present version.
pub fn bring_up_to_date(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    take(STEPS, transaction)
}

/// Writes the first page as it is. An update that changes no value writes nothing.
pub fn touch(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.pragma_update(None, "user_version", VERSION)
}

/// An empty database with the schema of that version.
pub fn fresh(version: u32) -> rusqlite::Result<Connection> {
    let mut connection = Connection::open_in_memory()?;
    let transaction = connection.transaction()?;
    take(&STEPS[..version as usize], &transaction)?;
    transaction.commit()?;
    Ok(connection)
}

/// Lets this connection read an older store as one of the present version: a column that the store
/// lacks is NULL. Writes nothing, because an older release may serve the store.
pub fn show_as_present(connection: &Connection) -> rusqlite::Result<()> {
    if version(connection)? == Some(VERSION) {
        return Ok(());
    }
    // The views are in the connection's temporary database, in which SQLite looks first
    // (<https://sqlite.org/lang_naming.html>).
    connection.pragma_update(None, "temp_store", "memory")?;
    let present = fresh(VERSION)?;
    for table in ["plants", "tokens"] {
        let held = columns(connection, table)?;
        let as_held = |name: &String| match held.contains(name) {
            true => name.clone(),
            false => format!("NULL AS {name}"),
        };
        let columns: Vec<_> = columns(&present, table)?.iter().map(as_held).collect();
        connection.execute_batch(&format!(
            "CREATE TEMP VIEW {table} AS SELECT {} FROM main.{table}",
            columns.join(", ")
        ))?;
    }
    Ok(())
}

fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut names = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
    names.query_map([table], |row| row.get(0))?.collect()
}

fn take(steps: &[&str], transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let taken = version(transaction)?.unwrap_or(0);
    for (step, version) in steps.iter().zip(1..).skip(taken as usize) {
        transaction.execute_batch(step)?;
        transaction.pragma_update(None, "user_version", version)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)
}

#[cfg(test)]
mod tests;
