//! `plant-store check`: a sound store is told from one that is not.

use std::fs;

use nix::sys::signal::Signal;
use plant_store_tests::{Server, plant, run};
use rusqlite::Connection;
use serde_json::Value;
use tempfile::TempDir;

use crate::database::{self, STORE};
use crate::operators::{create, files};

/// The exit status, what is printed, and what is said on standard error.
fn check(folder: &std::path::Path, flags: &[&str]) -> (Option<i32>, String, String) {
    let output = run(folder, &[&["check"], flags].concat());
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn sound_store_is_status_0_beside_a_running_server_and_at_rest() {
    let server = Server::start();
    create(&server, 0..2000);
    let (status, printed, said) = check(server.folder(), &[]);
    assert_eq!((status, said.as_str()), (Some(0), ""));
    assert!(printed.starts_with("sqlite:plant-store.db is sound; plants: 2000, tokens: 1, size: "));
    assert_eq!(printed.lines().count(), 1, "{printed}");
    server.create(&plant(2000, "Fern", None)).plant();

    let stopped = server.stopped_by(Signal::SIGTERM);
    let before = files(stopped.folder());
    let (status, printed, _) = check(stopped.folder(), &["--json"]);
    assert_eq!(status, Some(0));
    let report: Value = serde_json::from_str(&printed).expect("JSON");
    assert_eq!(report["sound"], true);
    assert_eq!(report["faults"], serde_json::json!([]));
    assert_eq!((&report["plants"], &report["tokens"]), (&2001.into(), &1.into()));
    let bytes = before[STORE].len();
    assert_eq!(report["store_bytes"], bytes);
    assert!(report["wal_bytes"].is_u64());
    assert!(files(stopped.folder()) == before, "check changes nothing");
}

#[test]
fn damaged_store_is_status_1_and_says_what_is_wrong() {
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
        fs::write(&store, bytes).expect("the store takes damage");
        let (status, printed, said) = check(stopped.folder(), &[]);
        assert_eq!((status, printed.as_str()), (Some(1), ""));
        assert!(said.starts_with("plant-store: sqlite:plant-store.db is not sound: "), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        let (status, printed, _) = check(stopped.folder(), &["--json"]);
        assert_eq!(status, Some(1));
        let report: Value = serde_json::from_str(&printed).expect("JSON");
        assert_eq!(report["sound"], false);
        assert!(!report["faults"].as_array().expect("an array").is_empty(), "{report}");
    }
    fs::write(&store, sound).expect("the store is mended");
    assert_eq!(check(stopped.folder(), &[]).0, Some(0));
}

#[test]
fn store_with_other_tables_is_not_sound() {
    let server = Server::start();
    database::open(&server).execute_batch("CREATE TABLE pots (id INTEGER)").expect("a table");
    let (status, _, said) = check(server.folder(), &[]);
    assert_eq!(status, Some(1));
    assert!(said.contains("the tables are not those of this release"), "{said}");
}

#[test]
fn what_is_not_a_store_is_status_1() {
    let folder = TempDir::new().expect("a temporary folder");
    let (status, _, said) = check(folder.path(), &[]);
    assert_eq!(status, Some(1));
    assert!(said.contains("there is no plant store at sqlite:plant-store.db"), "{said}");
    let other = Connection::open(folder.path().join(STORE)).expect("a database");
    other.execute_batch("CREATE TABLE ferns (id INTEGER)").expect("a table");
    let (status, _, said) = check(folder.path(), &[]);
    assert_eq!(status, Some(1));
    assert!(said.contains("is not a plant store"), "{said}");
}
