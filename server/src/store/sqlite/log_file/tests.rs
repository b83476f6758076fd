use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use super::*;
use crate::store::engine::{Engine, NewStore};
use crate::store::sqlite::connection::connect;
use crate::store::sqlite::{Sqlite, begin};
use crate::token::{StoredToken, TokenName};

/// A store, and another program that has it open and writes to it whatever becomes of its log.
struct Store {
    engine: Sqlite,
    other: Connection,
    log: PathBuf,
    folder: TempDir,
}

impl Store {
    fn new() -> Self {
        Self::with_pages_of(4096)
    }

    fn with_pages_of(bytes: u32) -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        let path = folder.path().join("plants.db");
        begin(&path).and_then(NewStore::publish).expect("a store");
        let repaginate = format!(
            "PRAGMA journal_mode = delete; PRAGMA page_size = {bytes}; VACUUM;
            PRAGMA journal_mode = wal"
        );
        let alone = Connection::open(&path).expect("the store");
        alone.execute_batch(&repaginate).expect("a store with other pages");
        drop(alone);
        let engine = Sqlite::open(&path).expect("the store");
        let other = connect(&path).expect("the store");
        let log = folder.path().join("plants.db-wal");
        let store = Self { engine, other, log, folder };
        store.write();
        store.write();
        store
    }

    fn write(&self) {
        self.write_plant("Fern");
    }

    fn write_plant(&self, name: &str) {
        let insert = "INSERT INTO plants (id, name) VALUES (random(), ?1)";
        self.other.execute(insert, [name]).expect("it is written");
    }

    fn cut(&self, length: u64) {
        let log = File::options().write(true).open(&self.log).expect("the log");
        log.set_len(length).expect("it is cut");
    }

    fn look(&self) -> Result<(), CommitError> {
        self.engine.tend().map(drop)
    }

    fn assert_cut(&self, length: u64) {
        for _ in 0..2 {
            let error = self.look().expect_err("the log was cut").to_string();
            assert!(error.contains("plants.db-wal was cut"), "{length}: {error}");
        }
    }
}

/// Nothing of it, its header, a part of its first page, that page, and a part of its last one.
const LENGTHS: [u64; 5] = [0, 32, 4096, 32 + 24 + 4096, 32 + 2 * (24 + 4096) - 100];

#[test]
fn log_that_was_cut_is_noticed_also_where_it_was_written_to_since() {
    for is_written_to in [false, true] {
        for length in LENGTHS {
            let store = Store::new();
            store.look().expect("a sound log");
            store.cut(length);
            if is_written_to {
                store.write();
            }
            store.assert_cut(length);
        }
    }
}

#[test]
fn hole_within_a_commit_is_noticed() {
    let store = Store::new();
    store.look().expect("a sound log");
    let length = store.log.metadata().expect("the log").len();
    store.write_plant(&"Fern".repeat(10_000));
    let log = File::options().write(true).open(&store.log).expect("the log");
    log.write_all_at(&[0; 100], length + 3 * 4096).expect("it is written over");
    store.assert_cut(length);
}

#[test]
fn tokens_are_not_changed_in_a_log_that_was_cut() {
    let (_, token) = StoredToken::issue(TokenName::first(), None);
    for length in LENGTHS {
        let store = Store::new();
        store.cut(length);
        let error = store.engine.add_token(&token).expect_err("the log was cut").to_string();
        assert!(error.contains("plants.db-wal was cut"), "{length}: {error}");
        assert!(store.log.metadata().expect("the log").len() == length, "{length}: it is written");
    }
}

#[test]
fn log_is_copied_when_the_store_closes_unless_it_was_cut() {
    for is_cut in [false, true] {
        let store = Store::new();
        store.look().expect("a sound log");
        if is_cut {
            store.cut(4096);
            store.write();
        }
        let Store { engine, other, log, folder } = store;
        let file = || fs::read(folder.path().join("plants.db")).expect("the store");
        let before = file();
        drop(other);
        drop(engine);
        assert_eq!((file() == before, log.exists()), (is_cut, is_cut));
    }
}

#[test]
fn pages_of_any_size_are_sound_until_they_are_cut() {
    for bytes in [512, 1024, 8192, 65536] {
        let store = Store::with_pages_of(bytes);
        store.look().expect("a sound log");
        store.write();
        store.look().expect("a sound log");
        store.cut(32 + 24 + u64::from(bytes));
        store.assert_cut(u64::from(bytes));
    }
}

#[test]
fn log_that_starts_over_or_is_emptied_by_sqlite_is_sound() {
    for checkpoint in [Checkpoint::Restart, Checkpoint::Truncate] {
        let store = Store::new();
        store.look().expect("a sound log");
        assert!(checkpoint.run(&store.other).expect("a checkpoint").complete);
        store.look().expect("a sound log");
        store.write();
        store.look().expect("a sound log");
    }
}
