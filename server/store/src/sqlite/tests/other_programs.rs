//! A store that other programs use at the same time: they read it, write to it, or run a
//! checkpoint.

use std::fs::File;
use std::thread;
use std::time::Instant;

use nix::fcntl::{FcntlArg, fcntl};
use nix::libc::{F_UNLCK, F_WRLCK, SEEK_SET, flock};

use super::{folder, ids, place, put, row, start, stopped};
use crate::engine::Engine;
use crate::error::{CommitError, StoreError};
use crate::sqlite::connection::WAIT;
use crate::sqlite::files::{is_empty_wal, wal_index_of};
use crate::sqlite::header::Header;
use crate::sqlite::open;
use rusqlite::Connection;

/// The byte of the WAL's index that a checkpoint locks
/// (<https://sqlite.org/walformat.html#wal_locks>).
const CHECKPOINT_LOCK: i64 = 121;

/// Takes or releases the lock as another process would: it belongs to the open file.
fn set_checkpoint_lock(index: &File, kind: i32) {
    let lock = flock {
        l_type: kind.try_into().expect("a small number"),
        l_whence: SEEK_SET.try_into().expect("a small number"),
        l_start: CHECKPOINT_LOCK,
        l_len: 1,
        l_pid: 0,
    };
    fcntl(index, FcntlArg::F_OFD_SETLK(&lock)).expect("the lock is free");
}

fn refused(started: Result<crate::sqlite::Sqlite, StoreError>) -> String {
    started.err().expect("the start is refused").to_string()
}

#[test]
fn start_is_refused_while_a_program_reads_a_stopped_store() {
    let folder = stopped(1);
    let reader = Connection::open(place(&folder)).expect("the store");
    reader.execute_batch("BEGIN; SELECT * FROM plants").expect("a view");
    let said = refused(start(&folder));
    assert!(said.ends_with("another program reads the store for long; end it first"), "{said}");
    reader.execute_batch("COMMIT").expect("the view ends");
    let store = start(&folder).expect("nobody is in its way");
    put(&store, row(2));
    assert_eq!(ids(&store), [1, 2]);
}

#[test]
fn start_waits_for_the_checkpoint_of_another_program() {
    let folder = stopped(1);
    // Makes the index, and keeps it.
    let other = open(&place(&folder)).expect("the store");
    let index = File::options().read(true).write(true).open(wal_index_of(&place(&folder)));
    let index = index.expect("the index");
    set_checkpoint_lock(&index, F_WRLCK);
    let began = Instant::now();
    let said = refused(start(&folder));
    assert!(began.elapsed() >= WAIT, "as for any lock");
    assert!(said.contains("another program runs a checkpoint of the store for long"), "{said}");
    let store = thread::scope(|scope| {
        let starting = scope.spawn(|| start(&folder));
        set_checkpoint_lock(&index, F_UNLCK);
        starting.join().expect("no panic").expect("the checkpoint has ended")
    });
    put(&store, row(2));
    assert_eq!(ids(&store), [1, 2]);
    drop((store, other));
}

#[test]
fn store_that_another_program_writes_to_is_not_closed_and_says_what_the_next_start_needs() {
    let folder = folder();
    let store = start(&folder).expect("a new store");
    put(&store, row(1));
    let writer = Connection::open(place(&folder)).expect("the store");
    writer.execute_batch("BEGIN IMMEDIATE").expect("the lock is free");
    let error = store.close().expect_err("the writer is in the way");
    let said = error.to_string();
    assert!(matches!(error, CommitError::NotClosed(_)), "{said}");
    assert!(said.contains("locked") && said.contains("The next start needs /"), "{said}");
    assert!(said.contains("plants.db-wal: leave it"), "{said}");
    drop(store);
    // As the last connection, it copies the WAL into the store and removes it.
    drop(writer);
    let refused = refused(start(&folder));
    assert!(refused.contains("--without-wal"), "{refused}");
}

/// A store that was closed while a program had a view of it that lacks the last plant.
fn closed_beside_a_reader(folder: &tempfile::TempDir) -> (crate::sqlite::Sqlite, Connection) {
    let store = start(folder).expect("a new store");
    put(&store, row(1));
    let reader = Connection::open(place(folder)).expect("the store");
    reader.execute_batch("BEGIN; SELECT * FROM plants").expect("a view");
    put(&store, row(2));
    store.close().expect("only a reader is in the way");
    (store, reader)
}

fn is_open_in_its_file(folder: &tempfile::TempDir) -> bool {
    let file = File::open(place(folder)).expect("the store");
    Header::of_file(&file).expect("a header").expect("a store").is_open
}

#[test]
fn file_stays_open_with_its_wal_if_a_reader_kept_plants_out_of_it_until_the_store_was_closed() {
    let folder = folder();
    let (store, reader) = closed_beside_a_reader(&folder);
    reader.execute_batch("COMMIT").expect("the view ends");
    drop(reader);
    // It is the last connection now.
    drop(store);
    assert!(is_open_in_its_file(&folder));
    assert!(!is_empty_wal(&place(&folder)));
    let store = start(&folder).expect("the WAL is there");
    assert_eq!(ids(&store), [1, 2]);
    store.close().expect("nobody is in its way");
    drop(store);
    assert!(!is_open_in_its_file(&folder));
}

#[test]
fn store_that_was_closed_beside_a_reader_starts_after_the_reader_has_removed_the_wal() {
    let folder = folder();
    let (store, reader) = closed_beside_a_reader(&folder);
    drop(store);
    reader.execute_batch("COMMIT").expect("the view ends");
    // As the last connection, it copies the WAL into the store and removes it.
    drop(reader);
    assert!(is_empty_wal(&place(&folder)));
    assert_eq!(ids(&start(&folder).expect("the store is closed")), [1, 2]);
}

#[test]
fn copy_by_vacuum_of_a_served_store_is_refused_with_what_to_do() {
    let folder = folder();
    let store = start(&folder).expect("a new store");
    let copies = tempfile::TempDir::new().expect("a temporary folder");
    let vacuum = format!("VACUUM INTO '{}'", place(&copies).display());
    let other = Connection::open(place(&folder)).expect("the store");
    other.execute_batch(&vacuum).expect("a copy");
    let said = refused(open(&place(&copies)));
    for expected in ["VACUUM INTO", "`plant-store serve --without-wal`", "`plant-store copy`"] {
        assert!(said.contains(expected), "{said}");
    }
    drop(store);
}
