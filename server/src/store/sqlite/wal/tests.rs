use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use super::*;
use crate::store::engine::{NewStore, ServedStore, Tokens};
use crate::store::sqlite::connection::connect;
use crate::store::sqlite::{Sqlite, begin};
use crate::token::{StoredToken, TokenName};

/// A store, and another program that has it open and writes to it whatever becomes of its WAL.
struct Store {
    served: Sqlite,
    other: Connection,
    wal: PathBuf,
    folder: TempDir,
}

impl Store {
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
        let served = Sqlite::open(&path).expect("the store");
        let other = connect(&path).expect("the store");
        let wal = folder.path().join("plants.db-wal");
        let store = Self { served, other, wal, folder };
        store.write();
        store.write();
        store
    }

    fn write(&self) {
        let insert = "INSERT INTO plants (id, name) VALUES (random(), 'Fern')";
        self.other.execute_batch(insert).expect("it is written");
    }

    fn cut(&self, length: u64) {
        let wal = File::options().write(true).open(&self.wal).expect("the WAL");
        wal.set_len(length).expect("it is cut");
    }

    fn assert_sound(&self) {
        self.served.tend().expect("a sound WAL");
    }
}

/// The WAL has two pages at least. It is cut to nothing, to its header, within its first page, to
/// that page, and within the second page.
fn lengths(page: u64) -> [u64; 5] {
    [0, 32, page, 32 + 24 + page, 32 + 2 * (24 + page) - 100]
}

#[test]
fn wal_that_was_cut_is_noticed_whatever_the_page_size() {
    for page in [512, 4096, 65536] {
        for length in lengths(page.into()) {
            let store = Store::with_pages_of(page);
            store.assert_sound();
            store.cut(length);
            let error = store.served.tend().expect_err("the WAL was cut").to_string();
            assert!(error.contains("plants.db-wal was cut"), "{length}: {error}");
        }
    }
}

#[test]
fn tokens_are_not_changed_in_a_wal_that_was_cut() {
    let (_, token) = StoredToken::issue(TokenName::first(), None);
    for length in lengths(4096) {
        let store = Store::with_pages_of(4096);
        store.cut(length);
        let error = store.served.add_token(&token).expect_err("the WAL was cut").to_string();
        assert!(error.contains("plants.db-wal was cut"), "{length}: {error}");
        assert!(store.wal.metadata().expect("the WAL").len() == length, "{length}: it is written");
    }
}

#[test]
fn wal_is_copied_when_the_store_closes_unless_it_was_cut() {
    for is_cut in [false, true] {
        let store = Store::with_pages_of(4096);
        if is_cut {
            store.cut(4096);
        }
        let Store { served, other, wal, folder } = store;
        let file = || fs::read(folder.path().join("plants.db")).expect("the store");
        let before = file();
        drop(other);
        drop(served);
        assert_eq!((file() == before, wal.exists()), (is_cut, is_cut));
    }
}

#[test]
fn wal_that_starts_over_or_is_emptied_by_sqlite_is_sound() {
    for checkpoint in [Checkpoint::Restart, Checkpoint::Truncate] {
        let store = Store::with_pages_of(4096);
        assert!(checkpoint.run(&store.other).expect("a checkpoint").complete);
        store.assert_sound();
        store.write();
        store.assert_sound();
    }
}

#[test]
fn wal_gets_one_mark_each_time_that_it_starts_over() {
    let mut store = Store::with_pages_of(4096);
    let mark = |store: &Store| Mark::read(&store.other).expect("the table").expect("a mark");
    for _ in 0..3 {
        let before = mark(&store);
        store.served.files.wal.ensure_marked(&mut store.other).expect("it is marked");
        let marked = mark(&store);
        assert!(marked != before);
        store.served.files.wal.ensure_marked(&mut store.other).expect("it has a mark");
        assert!(mark(&store) == marked);
        assert!(Checkpoint::Restart.run(&store.other).expect("a checkpoint").complete);
        store.write();
    }
}
