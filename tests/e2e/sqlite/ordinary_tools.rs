//! The store is an ordinary SQLite database: what another program does to it by SQLite is right.

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

/// As the last connection, it copies the WAL into the file and removes it.
#[test]
fn start_after_sigkill_and_one_look_by_another_program_loses_nothing() {
    let server = Server::start();
    create(&server, 0..3);
    let stopped = server.stopped_by(Signal::SIGKILL);
    assert_eq!(number(&sqlite(stopped.folder()), "SELECT count(*) FROM plants"), 3);
    assert!(!stopped.folder().join(WAL).exists(), "it has copied the WAL");
    assert!(stopped.start().export().into_keys().eq(0..3));
}

/// As `.backup` of `sqlite3` does it.
fn back_up(from: &Connection, to: &Path) {
    from.backup("main", to, None::<fn(Progress)>).expect("a copy");
}

fn vacuum(from: &Connection, to: &Path) {
    from.execute("VACUUM INTO ?1", [to.to_str()]).expect("a copy");
}

#[test]
fn copy_of_a_served_store_by_backup_or_vacuum_into_is_sound_and_served() {
    for copy in [back_up, vacuum] {
        let server = Server::start();
        create(&server, 0..3);
        let folder = TempDir::new().expect("a temporary folder");
        copy(&database::open(&server), &folder.path().join(STORE));
        create(&server, 3..4);
        let copied = Starting::on(folder, &server.token);
        let checked = plant_store_tests::run(copied.folder(), &["check"]);
        let said = String::from_utf8(checked.stdout).expect("text");
        assert!(said.contains("is sound; plants: 3, tokens: 1"), "{said}");
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

/// The next start copies what the stop has not, or the other program does.
#[test]
fn stop_beside_another_program_is_status_0_and_the_next_start_has_every_plant() {
    for transaction in ["BEGIN; SELECT count(*) FROM plants", "BEGIN IMMEDIATE"] {
        for is_left in [true, false] {
            let server = Server::start();
            server.create(&plant(1, "Ficus", None)).plant();
            let other = database::open(&server);
            other.execute_batch(transaction).expect("nobody is in its way");
            server.signal(Signal::SIGTERM);
            let (status, stopped) = server.ended();
            assert_eq!(status.code(), Some(0), "{transaction}");
            let wal = stopped.folder().join(WAL);
            assert!(wal.metadata().expect("it stays").len() > 0, "{transaction}");
            other.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, is_left).expect("set");
            drop(other);
            assert_eq!(wal.exists(), is_left);
            assert!(stopped.start().export().into_keys().eq([1]));
        }
    }
}
