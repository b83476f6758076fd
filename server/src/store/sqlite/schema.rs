//! The schema, as the steps that lead to it: each brings a store from one version to the next.
//!
//! A new store takes all the steps, an older one those that it has not taken, so both end with the
//! same schema. A step that was released must never be changed: stores in use have taken it.

use rusqlite::{Connection, Transaction};

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

/// The version that this release reads and writes.
#[expect(clippy::cast_possible_truncation, reason = "there are few steps")]
pub const VERSION: u32 = STEPS.len() as u32;

/// The schema version of a plant store, as `user_version` keeps it; none where the database is not
/// a plant store.
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

/// An empty database with the present schema.
pub fn fresh() -> rusqlite::Result<Connection> {
    let mut connection = Connection::open_in_memory()?;
    let transaction = connection.transaction()?;
    bring_up_to_date(&transaction)?;
    transaction.commit()?;
    Ok(connection)
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
mod tests {
    use super::*;

    /// A store of this release with a plant, and the steps of a later release.
    fn store() -> (Connection, Vec<&'static str>) {
        let connection = fresh().expect("a new store");
        connection.execute("INSERT INTO plants (id, name) VALUES (1, 'Ficus')", []).expect("room");
        let steps = [STEPS, &["ALTER TABLE plants ADD COLUMN later INTEGER"]].concat();
        (connection, steps)
    }

    #[test]
    fn older_store_takes_the_steps_it_lacks_and_keeps_its_plants() {
        let (mut connection, steps) = store();
        for _ in 0..2 {
            let transaction = connection.transaction().expect("a transaction");
            take(&steps, &transaction).expect("a step that works");
            transaction.commit().expect("a commit");
            assert_eq!(version(&connection), Ok(Some(VERSION + 1)));
        }
        let plant: (String, Option<i64>) = connection
            .query_row("SELECT name, later FROM plants", [], |row| Ok((row.get(0)?, row.get(1)?)))
            .expect("the plant");
        assert_eq!(plant, ("Ficus".into(), None));
    }

    #[test]
    fn failed_step_leaves_the_store_as_it_was() {
        let (mut connection, mut steps) = store();
        steps.push("DROP TABLE plants; CREATE TABLE tokens (name TEXT)");
        let transaction = connection.transaction().expect("a transaction");
        take(&steps, &transaction).expect_err("there is a table of that name");
        drop(transaction);
        assert_eq!(version(&connection), Ok(Some(VERSION)));
        connection.query_row("SELECT name FROM plants", [], |_| Ok(())).expect("the plant");
        connection.query_row("SELECT later FROM plants", [], |_| Ok(())).expect_err("no step");
    }

    #[test]
    fn database_without_our_application_id_has_no_version() {
        let other = Connection::open_in_memory().expect("a database");
        other.pragma_update(None, "user_version", VERSION).expect("a number");
        assert_eq!(version(&other), Ok(None));
    }
}
