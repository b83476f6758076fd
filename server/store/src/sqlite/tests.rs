//! Tests of the engine alone, without a server.

use std::fs::{self, File};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, fcntl};
use nix::libc::{F_UNLCK, F_WRLCK, SEEK_SET, flock};
use rusqlite::Connection;
use rusqlite::ffi::{self, SQLITE_IOERR_SHMSIZE};
use tempfile::TempDir;

use crate::Names;
use crate::engine::{Engine, Mode, Outcome, PAGE_ROWS, Row};
use crate::error::{At, Error, Kind};
use crate::sqlite::Sqlite;
use crate::sqlite::files::{wal_index_of, wal_of};
use crate::sqlite::open::open_to_serve;
use crate::sqlite::wal::WAIT;

static NAMES: Names = Names { program: "book-shelf", table: "books", application_id: *b"BKS" };

fn folder() -> TempDir {
    TempDir::new().expect("a temporary folder")
}

fn path_in(folder: &TempDir) -> std::path::PathBuf {
    folder.path().join("books.db")
}

fn start(folder: &TempDir) -> Result<Sqlite, Error> {
    open_to_serve(&NAMES, &path_in(folder), Mode::ServeOrCreate).map(|(store, _)| store)
}

fn row(id: i64) -> Row {
    Row { id, json: format!(r#"{{"id":{id},"name":"Ficus"}}"#).into() }
}

fn put(store: &Sqlite, row: Row) -> Outcome {
    store.commit(&[row], Instant::now()).expect("a commit")[0]
}

fn ids(store: &Sqlite) -> Vec<i64> {
    let mut ids = Vec::new();
    while let page = store.page(ids.last().copied(), PAGE_ROWS).expect("a page")
        && !page.is_empty()
    {
        ids.extend(page.into_iter().map(|row| row.id));
    }
    ids
}

/// Creates a store with one row, and closes it.
fn stopped(id: i64) -> TempDir {
    let folder = folder();
    let store = start(&folder).expect("a new store");
    put(&store, row(id));
    store.close().expect("a sound store");
    folder
}

/// Copies the files as they would be if the process were killed now.
fn crashed(from: &TempDir) -> TempDir {
    let to = folder();
    for suffix in ["", "-wal"] {
        let name = format!("books.db{suffix}");
        let _ = fs::copy(from.path().join(&name), to.path().join(&name));
    }
    to
}

/// Another program wrote the row: SQLite accepts any bytes as text.
#[test]
fn stored_text_that_is_not_utf8_is_a_conflict() {
    let folder = folder();
    let store = start(&folder).expect("a new store");
    let connection = Connection::open(path_in(&folder)).expect("the store");
    let insert = "INSERT INTO books (id, json) VALUES (7, CAST(x'ff' AS TEXT))";
    connection.execute_batch(insert).expect("a row");
    let outcomes = store.commit(&[row(7), row(8)], Instant::now()).expect("a commit");
    assert_eq!(outcomes, [Outcome::Conflict, Outcome::Created]);
    let error = store.page(None, PAGE_ROWS).expect_err("it is not a text").to_string();
    assert!(error.contains("the text of the id 7"), "{error}");
}

#[test]
fn checkpoint_of_a_damaged_file_fails_each_commit() {
    let folder = folder();
    let store = start(&folder).expect("a new store");
    let of_5_mib = |id| Row { id, json: "F".repeat(5 * 1024 * 1024).into() };
    for id in 0..3 {
        put(&store, of_5_mib(id));
    }
    // The WAL is reset, and then grows long enough for a checkpoint.
    put(&store, row(3));
    put(&store, of_5_mib(4));
    let file = File::options().write(true).open(path_in(&folder)).expect("the store");
    file.set_len(4096).expect("the file is truncated");
    for _ in 0..2 {
        let failed = store.commit(&[row(5)], Instant::now());
        let fault = failed.expect_err("the file is shorter than it was");
        assert!(!fault.may_pass() && !fault.is_final(), "{fault}");
    }
}

#[test]
fn removed_replaced_or_truncated_file_is_detected() {
    fn cut(path: &Path, length: u64) {
        File::options().write(true).open(path).unwrap().set_len(length).unwrap();
    }
    fn replace(path: &Path) {
        fs::copy(path, path.with_extension("other")).unwrap();
        fs::rename(path.with_extension("other"), path).unwrap();
    }
    // What is left by a truncation during a commit, which writes behind what was there.
    fn hollow_out(path: &Path) {
        let length = fs::metadata(path).unwrap().len();
        cut(path, 0);
        cut(path, length);
    }
    for (act, expected) in [
        ((|path, _| fs::remove_file(path).unwrap()) as fn(&Path, &Path), "was removed or renamed"),
        (|path, _| fs::rename(path, path.with_extension("x")).unwrap(), "was removed or renamed"),
        (|path, _| fs::remove_file(wal_index_of(path)).unwrap(), "-shm was removed or renamed"),
        (|path, _| replace(path), "another file is at"),
        (|_, wal| replace(wal), "another file is at"),
        (|path, _| replace(&wal_index_of(path)), "another file is at"),
        (|path, _| cut(path, 0), "books.db was truncated"),
        (|_, wal| cut(wal, 0), "-wal was truncated"),
        (|_, wal| cut(wal, 32 + 24 + 4096 - 1), "-wal was truncated"),
        (|_, wal| hollow_out(wal), "-wal was truncated"),
    ] {
        let folder = folder();
        let store = start(&folder).expect("a new store");
        put(&store, row(1));
        store.inspect().expect("all files are in place");
        act(&path_in(&folder), &wal_of(&path_in(&folder)));
        let error = store.inspect().expect_err("it is gone");
        assert!(error.is_final() && error.to_string().contains(expected), "{error}");
        let error = store.close().expect_err("it is gone").to_string();
        assert!(error.contains(expected), "{error}");
    }
}

/// Both shorten files of the store while it is served.
#[test]
fn checkpoint_and_vacuum_by_another_program_are_no_truncation() {
    for shortens in ["PRAGMA wal_checkpoint(TRUNCATE)", "VACUUM; PRAGMA wal_checkpoint(TRUNCATE)"] {
        let folder = folder();
        let store = start(&folder).expect("a new store");
        let large = |id| Row { id, json: format!("\"{}\"", "F".repeat(20_000)).into() };
        for id in 0..100 {
            put(&store, large(id));
        }
        let connection = Connection::open(path_in(&folder)).expect("the store");
        connection.busy_timeout(Duration::from_secs(30)).expect("a timeout");
        // There is something that VACUUM removes.
        let create = "CREATE TABLE old AS SELECT * FROM books; DROP TABLE old";
        connection.execute_batch(create).expect("a table");
        thread::scope(|scope| {
            scope.spawn(move || {
                for _ in 0..60 {
                    connection.execute_batch(shortens).expect("it waits for its locks");
                }
            });
            scope.spawn(|| (0..20_000).for_each(|_| store.inspect().expect("all are in place")));
            for id in 100..400 {
                assert_eq!(put(&store, row(id)), Outcome::Created);
            }
        });
        assert_eq!(ids(&store).len(), 400);
    }
}

/// SQLite reports this failure as a "disk I/O error".
#[test]
fn no_space_for_the_wal_index_is_reported_as_a_full_disk() {
    let code = ffi::Error::new(SQLITE_IOERR_SHMSIZE);
    let failed: Result<(), _> = Err(rusqlite::Error::SqliteFailure(code, None));
    let failed = failed.at("sqlite:x.db", "open the store").expect_err("it failed");
    assert_eq!(failed.kind, Kind::Full);
    let expected = "sqlite:x.db: cannot open the store: the disk is full";
    assert!(failed.to_string().starts_with(expected), "{failed}");
}

/// The byte of the WAL index that a checkpoint locks
/// (<https://sqlite.org/walformat.html#wal_locks>).
const CHECKPOINT_LOCK: i64 = 121;

/// Takes or releases the lock as another process would: the lock belongs to the open file.
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

fn refused(started: Result<Sqlite, Error>) -> String {
    started.err().expect("the start is refused").to_string()
}

/// Without a WAL there is nothing to copy, and nothing can block the start.
#[test]
fn start_is_refused_while_a_program_reads_the_wal_of_a_crash() {
    let served = folder();
    let store = start(&served).expect("a new store");
    put(&store, row(1));
    let folder = crashed(&served);
    let reader = Connection::open(path_in(&folder)).expect("the store");
    reader.execute_batch("BEGIN; SELECT * FROM books").expect("a view");
    let message = refused(start(&folder));
    assert!(message.contains("another program is reading the store"), "{message}");
    reader.execute_batch("COMMIT").expect("the view ends");
    let store = start(&folder).expect("nothing blocks the start");
    put(&store, row(2));
    assert_eq!(ids(&store), [1, 2]);
}

#[test]
fn start_waits_for_the_checkpoint_of_another_program() {
    let folder = stopped(1);
    // Creates the index, and keeps it.
    let other = Connection::open(path_in(&folder)).expect("the store");
    other.execute_batch("SELECT * FROM books").expect("rows");
    let index = File::options().read(true).write(true).open(wal_index_of(&path_in(&folder)));
    let index = index.expect("the index");
    set_checkpoint_lock(&index, F_WRLCK);
    let began = Instant::now();
    let message = refused(start(&folder));
    assert!(began.elapsed() >= WAIT, "it waits as long as for any lock");
    assert!(message.contains("or running a checkpoint of it"), "{message}");
    let store = thread::scope(|scope| {
        let starting = scope.spawn(|| start(&folder));
        set_checkpoint_lock(&index, F_UNLCK);
        starting.join().expect("no panic").expect("the checkpoint has ended")
    });
    put(&store, row(2));
    assert_eq!(ids(&store), [1, 2]);
    drop((store, other));
}
