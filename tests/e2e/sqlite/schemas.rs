//! Stores of every schema version so far: each is kept in `schemas/` as SQL, with plants and a
//! token, and each is served by this release.

use std::fs;
use std::path::{Path, PathBuf};

use plant_store_tests::{Server, Starting, binary_in, failure, plant, run};
use rusqlite::{Connection, Row};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::database::{self, STORE};
use crate::without_store::contract::document;

/// The token of every kept store.
pub const TOKEN: &str = "pst_0123456789ABCDEFGHIJabcdefghij0038H4se";

/// The SQL that makes a store of that version.
fn kept(version: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("e2e/sqlite/schemas/{version}.sql"))
}

/// The newest version that is kept.
pub fn newest() -> u32 {
    let mut newest = 1;
    while kept(newest + 1).exists() {
        newest += 1;
    }
    newest
}

/// A store made by these statements, in a folder of its own.
fn store(statements: &str) -> (TempDir, Connection) {
    let folder = TempDir::new().expect("a temporary folder");
    let store = Connection::open(folder.path().join(STORE)).expect("a database");
    store.execute_batch(statements).expect("the statements work");
    store.query_row("PRAGMA journal_mode = wal", [], |_| Ok(())).expect("a WAL");
    (folder, store)
}

/// A folder with the store of that version.
pub fn folder_with(version: u32) -> TempDir {
    store(&fs::read_to_string(kept(version)).expect("a kept store")).0
}

/// The tables, columns and indexes of a store, a line each.
fn schema(store: &Connection) -> Vec<String> {
    let query = "
        SELECT format('version %d', user_version) FROM pragma_user_version
        UNION ALL
        SELECT format('%s (strict: %d, without rowid: %d): %s %s, not null: %d, key: %d, default: %s',
            t.name, t.strict, t.wr, c.name, c.type, c.\"notnull\", c.pk, c.dflt_value)
        FROM pragma_table_list t JOIN pragma_table_xinfo(t.name) c
        WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite_%'
        UNION ALL
        SELECT format('%s, index (unique: %d): %s', t.name, i.\"unique\", c.name)
        FROM pragma_table_list t JOIN pragma_index_list(t.name) i JOIN pragma_index_info(i.name) c
        WHERE t.schema = 'main'
        ORDER BY 1";
    let mut statement = store.prepare(query).expect("a query");
    let lines = statement.query_map([], |row| row.get(0)).expect("a schema");
    lines.collect::<Result<_, _>>().expect("text")
}

/// A row as `export` writes it: a column is a member, and NULL is an absent one.
fn plant_of(row: &Row<'_>) -> rusqlite::Result<Value> {
    let mut plant = Map::new();
    for (index, column) in row.as_ref().column_names().enumerate() {
        let value = match row.get_ref(index)? {
            rusqlite::types::ValueRef::Null => continue,
            rusqlite::types::ValueRef::Integer(number) => json!(number),
            rusqlite::types::ValueRef::Real(number) => json!(number),
            value => json!(value.as_str().expect("text")),
        };
        plant.insert(column.to_owned(), value);
    }
    Ok(plant.into())
}

fn plants(store: &Connection) -> Vec<Value> {
    let mut statement = store.prepare("SELECT * FROM plants ORDER BY id").expect("plants");
    let plants = statement.query_map([], plant_of).expect("plants");
    plants.collect::<Result<_, _>>().expect("plants")
}

/// If the schema changed without a new version, no command would bring older stores up to date.
#[test]
fn schema_of_a_new_store_is_the_newest_one_kept() {
    let server = Server::start();
    let (kept_as, next) = (kept(newest()), kept(newest() + 1));
    let (_folder, store) = store(&fs::read_to_string(&kept_as).expect("text"));
    assert_eq!(
        schema(&database::open(&server)),
        schema(&store),
        "the schema (left) is not the one of {} (right): add a step to \
         server/src/store/sqlite/schema.rs and keep what it makes as {}",
        kept_as.display(),
        next.display(),
    );
}

#[test]
fn store_of_every_version_is_served_with_its_plants_and_its_token() {
    for version in 1..=newest() {
        let (folder, store) = store(&fs::read_to_string(kept(version)).expect("text"));
        let expected = plants(&store);
        assert!(!expected.is_empty(), "version {version} is kept with plants");
        if version == newest() {
            let members = document()["components"]["schemas"]["NewPlant"]["properties"].clone();
            for member in members.as_object().expect("an object").keys() {
                let is_kept = expected.iter().any(|plant| plant.get(member).is_some());
                assert!(is_kept, "version {version} is kept without a plant that has `{member}`");
            }
        }
        drop(store);

        let server = Starting::on(folder, TOKEN).start();
        let exported = server.command(&["export"]);
        let exported: Vec<Value> =
            exported.lines().map(|line| serde_json::from_str(line).expect("a plant")).collect();
        assert_eq!(exported, expected, "version {version}");
        server.create(&plant(3, "Fern", None)).plant();
        assert!(server.command(&["token", "list"]).contains("first"), "version {version}");
        let migrated = schema(&database::open(&server));
        assert_eq!(migrated, schema(&database::open(&Server::start())), "version {version}");
    }
}

/// So a backup is possible before the upgrade, with the release that brings it, and the older release
/// may still serve the store.
#[test]
fn store_of_every_version_is_copied_exported_and_checked_and_left_as_it_is() {
    for version in 1..=newest() {
        let (folder, store) = store(&fs::read_to_string(kept(version)).expect("text"));
        let expected = plants(&store);
        let before = schema(&store);
        let folder = folder.path();
        let output = run(folder, &["check"]);
        let checked = String::from_utf8(output.stdout).expect("text");
        assert!(checked.contains("is sound; plants: 4, tokens: 1"), "version {version}: {checked}");
        let url = "sqlite:plant-store.db";
        assert!(run(folder, &["copy", "--from", url, "--to", "sqlite:copy.db"]).status.success());
        for url in [url, "sqlite:copy.db"] {
            let exported = run(folder, &["export", "--store", url]).stdout;
            let exported = String::from_utf8(exported).expect("text");
            let exported: Vec<Value> =
                exported.lines().map(|line| serde_json::from_str(line).expect("a plant")).collect();
            assert_eq!(exported, expected, "version {version}: {url}");
        }
        assert!(run(folder, &["token", "list"]).status.success());
        assert_eq!(schema(&store), before, "version {version}");
        // The copy is a store of this release.
        let copy = Connection::open(folder.join("copy.db")).expect("a store");
        assert_eq!(schema(&copy), schema(&database::open(&Server::start())));
    }
}

/// Version 0 is a database with the application id of a plant store and without a table.
#[test]
fn older_store_is_brought_up_to_date_by_serve_alone() {
    let (folder, store) = store("PRAGMA application_id = 0x504c4e54");
    drop(store);
    let bytes = || fs::read(folder.path().join(STORE)).expect("the store is a file");
    let before = bytes();
    for words in ["export", "token list", "token create x"] {
        let (status, said) = failure(binary_in(folder.path()).args(words.split(' ')));
        assert_eq!(status, Some(1), "{words}");
        let expected = format!("has schema version 0, and this release needs {}", newest());
        assert!(said.contains(&expected), "{words}: {said}");
        assert!(said.contains("`plant-store serve` brings it up to date"), "{words}: {said}");
        assert!(bytes() == before, "{words} changes the store");
    }
    // The store has no token: `serve` issues one only for a store that it creates.
    let server = Starting::on(folder, TOKEN).start();
    assert_eq!(server.create(&plant(1, "Ficus", None)).refusal().0, 401);
    assert_eq!(schema(&database::open(&server)), schema(&database::open(&Server::start())));
}
