//! The store's file cut off or overwritten in the middle: no 200 that is not true, and nothing
//! that could be read before is lost by what the service does then.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

use nix::sys::signal::Signal;
use plant_store_tests::{Server, Starting, binary, failure, plant};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::database::{LOG, STORE};

/// As many plants as the store has, with room for as many between them.
const PLANTS: i64 = 400;

fn name(id: i64) -> String {
    format!("Ficus {id} ").repeat(100)
}

fn old() -> impl Iterator<Item = i64> {
    (0..PLANTS).map(|id| id * 2)
}

fn new() -> impl Iterator<Item = i64> {
    old().map(|id| id + 1)
}

/// A store of many pages, all in its file.
fn store() -> Starting {
    let server = Server::start();
    let mut connection = server.connect();
    for id in old() {
        connection.exchange(&server.post(&plant(id, &name(id), None))).plant();
    }
    server.stopped_by(Signal::SIGTERM)
}

fn cut(folder: &Path) {
    let store = File::options().write(true).open(folder.join(STORE)).expect("the store is a file");
    let length = store.metadata().expect("the file has a size").len();
    store.set_len(length / 2).expect("the file can be cut");
}

fn overwrite(folder: &Path) {
    let store = File::options().write(true).open(folder.join(STORE)).expect("the store is a file");
    let length = store.metadata().expect("the file has a size").len();
    let garbage = vec![0xff; usize::try_from(length / 4).expect("a small file")];
    store.write_all_at(&garbage, length / 2).expect("the disk takes bytes");
}

/// The plants that SQLite finds, one by one, in a copy of the store as it is.
fn readable(folder: &Path) -> BTreeSet<i64> {
    let copy = TempDir::new().expect("a temporary folder");
    for file in [STORE, LOG] {
        // There is no log where the store was closed.
        let _ = fs::copy(folder.join(file), copy.path().join(file));
    }
    let store = Connection::open(copy.path().join(STORE)).expect("a database");
    let is_there = |id: &i64| {
        let query = "SELECT name = ?2 FROM plants WHERE id = ?1";
        store.query_row(query, (id, name(*id)), |row| row.get(0)).unwrap_or(false)
    };
    old().chain(new()).filter(is_there).collect()
}

/// Sends old and new plants; the new ones that were answered with 200.
fn created(server: &Server) -> BTreeSet<i64> {
    let mut connection = server.connect();
    let mut send = |id: &i64| {
        let answer = connection.exchange(&server.post(&plant(*id, &name(*id), None)));
        if answer.status == 200 {
            answer.plant();
            return true;
        }
        let (error, message) = answer.refusal();
        assert_eq!(error, 500, "{id}: {message}");
        assert!(!message.contains("malformed"), "{message}");
        false
    };
    let old_answered = old().filter(&mut send).count();
    let created: BTreeSet<_> = new().filter(send).collect();
    assert!(old_answered > 0 && !created.is_empty(), "not all of the store is damaged");
    created
}

#[test]
fn truncated_store_is_refused_and_unchanged() {
    let stopped = store();
    cut(stopped.folder());
    let bytes = || fs::read(stopped.folder().join(STORE)).expect("the file is there");
    let before = bytes();
    for words in ["serve --listen 127.0.0.1:0", "export"] {
        let mut command = Command::new(binary());
        let (status, said) = failure(command.args(words.split(' ')).current_dir(stopped.folder()));
        assert_eq!(status, Some(1), "{words}");
        assert!(said.contains("malformed"), "{words}: {said}");
        assert!(bytes() == before, "{words} changes the file");
        assert_eq!(fs::read_dir(stopped.folder()).expect("a folder").count(), 2, "{words}");
    }
}

/// On the disk while nobody looks, or under the server that has some pages in memory.
#[test]
fn damaged_store_is_500_where_damaged_and_loses_no_readable_plant() {
    for damage in [overwrite, cut] {
        let server = store().start();
        // The log is there, or the cut would be noticed at the start.
        server.create(&plant(-1, "Ficus", None)).plant();
        damage(server.folder());
        let before = readable(server.folder());
        assert!(before.len() < old().count(), "the damage is one");
        let mut expected = before;
        expected.extend(created(&server));

        let stopped = server.stopped_by(Signal::SIGKILL);
        assert!(readable(stopped.folder()).is_superset(&expected));
        let server = stopped.start();
        expected.extend(created(&server));
        server.wait_for_log("malformed");
        let stopped = server.stopped_by(Signal::SIGTERM);
        assert!(readable(stopped.folder()).is_superset(&expected));
    }
}
