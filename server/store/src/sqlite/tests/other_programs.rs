//! A start while other programs read the store or run a checkpoint.

use std::fs::File;
use std::thread;
use std::time::Instant;

use nix::fcntl::{FcntlArg, fcntl};
use nix::libc::{F_UNLCK, F_WRLCK, SEEK_SET, flock};

use super::{crashed, folder, ids, path_in, put, row, start, stopped};
use crate::error::Error;
use crate::sqlite::Sqlite;
use crate::sqlite::files::wal_index_of;
use crate::sqlite::wal::WAIT;
use rusqlite::Connection;

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
