use std::fs;
use std::time::Instant;

use tempfile::TempDir;

use super::*;
use crate::store::engine::NewStore;
use crate::store::sqlite::{Sqlite, begin};

/// A page in the WAL, with its header (<https://sqlite.org/fileformat2.html#the_write_ahead_log>).
const FRAME: u64 = 4096 + 24;

struct Store {
    writer: SqliteWriter,
    next: i64,
    /// Keeps the WAL in place.
    _engine: Sqlite,
    folder: TempDir,
}

impl Store {
    fn new() -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        let path = folder.path().join("plants.db");
        begin(&path).and_then(NewStore::publish).expect("a store");
        let engine = Sqlite::open(&path).expect("the store");
        let (files, lock) = (Arc::clone(&engine.files), Arc::clone(&engine.lock));
        let writer = SqliteWriter::open(files, lock, Arc::clone(&engine.connection));
        let writer = writer.expect("a writer");
        Self { writer, next: 0, _engine: engine, folder }
    }

    /// Commits a plant of some twenty pages; returns how long the WAL is then, in pages.
    fn commit(&mut self) -> u64 {
        let plant = NewPlant::new(self.next, "Ficus ".repeat(12_000));
        self.next += 1;
        assert_eq!(
            self.writer.commit(&[plant], Instant::now()).expect("a commit"),
            [Outcome::Created]
        );
        let pages = self.writer.wal_pages;
        self.writer.maintain().expect("a sound store");
        pages
    }

    /// Commits until the WAL is long enough to be copied; returns its length then.
    fn commit_until_copied(&mut self) -> u64 {
        let before = self.writer.checkpointed;
        for _ in 0..200 {
            let pages = self.commit();
            if self.writer.checkpointed != before && self.writer.checkpointed != 0 {
                return pages;
            }
        }
        panic!("the WAL is never copied");
    }
}

#[test]
fn wal_of_1000_pages_is_copied_and_starts_over() {
    let mut store = Store::new();
    for _ in 0..3 {
        let pages = store.commit_until_copied();
        assert!((1000..1030).contains(&pages), "{pages}");
        assert!(store.commit() < 30, "the WAL starts over");
    }
    let wal = fs::metadata(store.folder.path().join("plants.db-wal")).expect("the WAL").len();
    assert!(wal / FRAME < 1030, "{wal}");
}

#[test]
fn wal_that_a_reader_holds_is_tried_again_after_1000_more_pages() {
    let mut store = Store::new();
    store.commit();
    let reader = Connection::open(store.folder.path().join("plants.db")).expect("the store");
    reader.execute_batch("BEGIN; SELECT * FROM plants").expect("a view");
    let first = store.commit_until_copied();
    let second = store.commit_until_copied();
    assert!((1000..1030).contains(&(second - first)), "{first}, {second}");
    reader.execute_batch("COMMIT").expect("the view ends");
    let third = store.commit_until_copied();
    assert!((1000..1030).contains(&(third - second)), "{second}, {third}");
    assert!(store.commit() < 30, "the WAL starts over");
}
