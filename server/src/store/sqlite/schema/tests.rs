use super::*;

/// A store of this release with a plant, and the steps of a newer release.
fn store() -> (Connection, Vec<&'static str>) {
    let connection = fresh(VERSION).expect("a new store");
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

#[test]
fn older_store_is_read_with_null_for_the_column_that_it_lacks_and_not_changed() {
    let older = Connection::open_in_memory().expect("a database");
    let tables = "
        CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
        CREATE TABLE tokens (name TEXT PRIMARY KEY) STRICT;
        INSERT INTO plants (id, name) VALUES (1, 'Ficus');
        PRAGMA application_id = 0x504c4e54;
        PRAGMA user_version = 1";
    older.execute_batch(tables).expect("the statements work");
    let changes = older.total_changes();
    show_as_present(&older).expect("temporary views");
    let plant: (i64, String, Option<String>) = older
        .query_row("SELECT id, name, tag FROM plants WHERE id >= 1 ORDER BY id", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .expect("the plant");
    assert_eq!(plant, (1, "Ficus".into(), None));
    assert_eq!((older.total_changes(), version(&older)), (changes, Ok(Some(1))));
}
