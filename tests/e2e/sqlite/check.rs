//! `plant-store check`: it reports whether a store is sound.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

use nix::sys::signal::Signal;
use plant_store_tests::{Server, plant, run};
use rusqlite::Connection;
use serde_json::Value;
use tempfile::TempDir;

use crate::database::{self, STORE};
use crate::operators::{create, files};

/// The output of `check`.
struct Verdict {
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

fn check(folder: &Path) -> Verdict {
    verdict(folder, &["check"])
}

/// Runs `check --json`, and returns its exit code and its report.
fn check_json(folder: &Path) -> (Option<i32>, Value) {
    let Verdict { status, stdout, .. } = verdict(folder, &["check", "--json"]);
    (status, serde_json::from_str(&stdout).expect("JSON"))
}

fn verdict(folder: &Path, words: &[&str]) -> Verdict {
    let output = run(folder, words);
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Verdict {
        status: output.status.code(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// The store is checked while a server runs on it, and after the server has stopped.
#[test]
fn check_of_a_sound_store_exits_0() {
    let server = Server::start();
    create(&server, 0..2000);
    let Verdict { status, stdout, stderr } = check(server.folder());
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
    assert!(stdout.starts_with("sqlite:plant-store.db is sound; plants: 2000, tokens: 1, size: "));
    assert_eq!(stdout.lines().count(), 1, "{stdout}");
    server.create(&plant(2000, "Fern", None)).plant();

    let stopped = server.stopped_by(Signal::SIGTERM);
    let before = files(stopped.folder());
    let (status, report) = check_json(stopped.folder());
    assert_eq!(status, Some(0));
    assert_eq!(report["sound"], true);
    assert_eq!(report["faults"], serde_json::json!([]));
    assert_eq!((&report["plants"], &report["tokens"]), (&2001.into(), &1.into()));
    let bytes = before[STORE].len();
    assert_eq!(report["store_bytes"], bytes);
    assert!(report["wal_bytes"].is_u64());
    assert!(files(stopped.folder()) == before, "check changes nothing");
}

#[test]
fn check_of_a_damaged_store_exits_1() {
    let server = Server::start();
    create(&server, 0..500);
    let stopped = server.stopped_by(Signal::SIGTERM);
    let store = stopped.folder().join(STORE);
    let sound = fs::read(&store).expect("the store");
    let mut overwritten = sound.clone();
    let middle = overwritten.len() / 2;
    overwritten[middle..middle + 8192].fill(0xff);
    let cut = sound[..sound.len() / 2].to_vec();
    for bytes in [overwritten, cut] {
        fs::write(&store, bytes).expect("the store is damaged");
        let Verdict { status, stdout, stderr } = check(stopped.folder());
        assert_eq!((status, stdout.as_str()), (Some(1), ""));
        let not_sound = "plant-store: sqlite:plant-store.db is not sound: ";
        assert!(stderr.starts_with(not_sound), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
        let (status, report) = check_json(stopped.folder());
        assert_eq!(status, Some(1));
        assert_eq!(report["sound"], false);
        assert!(!report["faults"].as_array().expect("an array").is_empty(), "{report}");
    }
    fs::write(&store, sound).expect("the store is restored");
    assert_eq!(check(stopped.folder()).status, Some(0));
}

#[test]
fn check_exits_2_if_the_store_cannot_be_checked() {
    let missing = TempDir::new().expect("a temporary folder");
    let other = TempDir::new().expect("a temporary folder");
    Connection::open(other.path().join(STORE))
        .and_then(|database| database.execute_batch("CREATE TABLE ferns (id INTEGER)"))
        .expect("a database");
    let newer = Server::start().stopped_by(Signal::SIGTERM);
    let store = File::options().write(true).open(newer.folder().join(STORE)).expect("the store");
    // The last byte of `application_id` is twice the layout version.
    store.write_all_at(&[2 << 1], 71).expect("the header");
    let folder = TempDir::new().expect("a temporary folder");
    fs::create_dir(folder.path().join(STORE)).expect("a folder");
    for (at, expected) in [
        (missing.path(), "there is no store at sqlite:/"),
        (other.path(), "is not a store"),
        (newer.folder(), "has layout version 2, but"),
        (folder.path(), "is a folder"),
    ] {
        let Verdict { status, stdout, stderr } = check(at);
        assert_eq!((status, stdout.as_str()), (Some(2), ""), "{expected}");
        let cannot = "plant-store: sqlite:plant-store.db cannot be checked: ";
        assert!(stderr.starts_with(cannot) && stderr.contains(expected), "{stderr}");
        let (status, report) = check_json(at);
        assert_eq!(status, Some(2));
        assert_eq!(report["sound"], Value::Null);
        assert!(report["faults"][0].as_str().expect("text").contains(expected), "{report}");
    }
}

/// Another program has written the rows and the table: the service writes nothing like them. A
/// create with the id of such a row is a conflict.
#[test]
fn check_names_rows_that_are_not_plants() {
    let server = Server::start();
    let rows = r#"INSERT INTO plants (id, json) VALUES (5, '["Fern", "Ficus"]'),
        (6, '{"tag":"Ficus"}'), (7, 'Ficus'); CREATE TABLE zones (id INTEGER)"#;
    database::open(&server).execute_batch(rows).expect("rows and a table");
    assert_eq!(server.create(&plant(7, "Ficus", None)).error(), 409);
    server.create(&plant(8, "Ficus", None)).plant();
    let Verdict { status, stderr, .. } = check(server.folder());
    assert_eq!(status, Some(1));
    let row = "rows that are not a plant: 3, for example the ids [5, 6, 7]";
    assert!(stderr.contains(row), "{stderr}");
    let table = "the tables do not match layout version 1: zones is unexpected";
    assert!(stderr.contains(table), "{stderr}");
}

/// STORES.md tells operators that they may add an index, and litestream adds its own tables.
#[test]
fn check_accepts_an_index_and_the_tables_of_litestream() {
    let server = Server::start();
    let others = "CREATE INDEX plants_by_name ON plants (json ->> '$.name');
        CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER);
        CREATE TABLE _litestream_lock (id INTEGER)";
    database::open(&server).execute_batch(others).expect("an index and tables");
    server.create(&plant(8, "Ficus", None)).plant();
    assert_eq!(check(server.folder()).status, Some(0));
    let query = "SELECT id FROM plants WHERE json ->> '$.name' = 'Ficus'";
    assert_eq!(database::number(&server, query), 8);
}
