//! The store is an ordinary SQLite database: other programs may use it through SQLite.

use std::path::Path;

use nix::sys::signal::Signal;
use plant_store_tests::{Server, Starting, plant};
use rusqlite::Connection;
use rusqlite::backup::Progress;
use rusqlite::config::DbConfig;
use tempfile::TempDir;

use crate::database::{self, STORE, WAL};
use crate::operators::{create, files};

fn sqlite(folder: &Path) -> Connection {
    Connection::open(folder.join(STORE)).expect("the store opens")
}

fn number(store: &Connection, query: &str) -> i64 {
    store.query_row(query, [], |row| row.get(0)).expect("a number")
}

/// The other program has the last connection, so it checkpoints and removes the WAL.
#[test]
fn read_by_another_program_after_sigkill_loses_nothing() {
    let server = Server::start();
    create(&server, 0..3);
    let stopped = server.stopped_by(Signal::SIGKILL);
    assert_eq!(number(&sqlite(stopped.folder()), "SELECT count(*) FROM plants"), 3);
    assert!(!stopped.folder().join(WAL).exists(), "the program has removed the WAL");
    assert!(stopped.start().export().into_keys().eq(0..3));
}

/// Copies a store as `.backup` of `sqlite3` does.
fn back_up(from: &Connection, to: &Path) {
    from.backup("main", to, None::<fn(Progress)>).expect("a copy");
}

fn vacuum(from: &Connection, to: &Path) {
    from.execute("VACUUM INTO ?1", [to.to_str()]).expect("a copy");
}

/// The store is copied while it is served, and then the copy is served.
#[test]
fn copy_by_sqlite_tools_is_a_sound_store() {
    for copy in [back_up, vacuum] {
        let server = Server::start();
        create(&server, 0..3);
        let folder = TempDir::new().expect("a temporary folder");
        copy(&database::open(&server), &folder.path().join(STORE));
        create(&server, 3..4);
        let copied = Starting::on(folder, &server.token);
        let checked = plant_store_tests::run(copied.folder(), &["check"]);
        let stdout = String::from_utf8(checked.stdout).expect("text");
        assert!(stdout.contains("is sound; plants: 3, tokens: 1"), "{stdout}");
        let copied = copied.start();
        copied.create(&plant(7, "Fern", None)).plant();
        let copied = copied.stopped_by(Signal::SIGKILL).start();
        assert!(copied.export().into_keys().eq([0, 1, 2, 7]));
    }
}

#[test]
fn stopped_store_is_one_file() {
    let server = Server::start();
    create(&server, 0..3);
    let stopped = server.stopped_by(Signal::SIGTERM);
    assert!(files(stopped.folder()).into_keys().eq(["log", STORE]));
}

/// The stop cannot checkpoint the WAL. Either the other program does that, or the next start.
#[test]
fn stop_beside_another_program_exits_0_and_loses_nothing() {
    for transaction in ["BEGIN; SELECT count(*) FROM plants", "BEGIN IMMEDIATE"] {
        for is_left in [true, false] {
            let server = Server::start();
            server.create(&plant(1, "Ficus", None)).plant();
            let other = database::open(&server);
            other.execute_batch(transaction).expect("nothing blocks it");
            server.signal(Signal::SIGTERM);
            let (status, stopped) = server.ended();
            assert_eq!(status.code(), Some(0), "{transaction}");
            let wal = stopped.folder().join(WAL);
            assert!(wal.metadata().expect("the WAL stays").len() > 0, "{transaction}");
            other.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, is_left).expect("set");
            drop(other);
            assert_eq!(wal.exists(), is_left);
            assert!(stopped.start().export().into_keys().eq([1]));
        }
    }
}
