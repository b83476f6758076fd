//! The store's file is truncated, or overwritten in the middle. No 200 may be untrue, and the
//! service must not lose a plant that could still be read.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

use nix::sys::signal::Signal;
use plant_store_tests::{Server, Starting, binary_in, failure, plant, run};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::database::{self, STORE, WAL};
use crate::operators::{create, files};

/// How many plants the store has. Their ids are even; the odd ids are for new plants.
const PLANTS: i64 = 400;

fn name(id: i64) -> String {
    format!("Ficus {id} ").repeat(100)
}

fn old_ids() -> impl Iterator<Item = i64> {
    (0..PLANTS).map(|id| id * 2)
}

fn new_ids() -> impl Iterator<Item = i64> {
    old_ids().map(|id| id + 1)
}

/// A store of many pages, all in its file: the stop has copied the WAL.
fn store() -> Starting {
    let server = Server::start();
    let mut connection = server.connect();
    for id in old_ids() {
        connection.exchange(&server.post(&plant(id, &name(id), None))).plant();
    }
    server.stopped_by(Signal::SIGTERM)
}

fn truncate(folder: &Path) {
    let store = File::options().write(true).open(folder.join(STORE)).expect("the store is a file");
    let length = store.metadata().expect("the file has a size").len();
    store.set_len(length / 2).expect("the file can be truncated");
}

fn overwrite(folder: &Path) {
    let store = File::options().write(true).open(folder.join(STORE)).expect("the store is a file");
    let length = store.metadata().expect("the file has a size").len();
    let garbage = vec![0xff; usize::try_from(length / 4).expect("a small file")];
    store.write_all_at(&garbage, length / 2).expect("the file can be written");
}

/// The ids of the plants that SQLite can read, one by one, from a copy of the store.
fn readable(folder: &Path) -> BTreeSet<i64> {
    let copy = TempDir::new().expect("a temporary folder");
    for file in [STORE, WAL] {
        // A store that was closed has no WAL.
        let _ = fs::copy(folder.join(file), copy.path().join(file));
    }
    let store = Connection::open(copy.path().join(STORE)).expect("a database");
    let is_there = |id: &i64| {
        let query = "SELECT plant ->> '$.name' = ?2 FROM plants WHERE id = ?1";
        store.query_row(query, (id, name(*id)), |row| row.get(0)).unwrap_or(false)
    };
    old_ids().chain(new_ids()).filter(is_there).collect()
}

/// Sends the old and the new plants. Returns the new ones that were answered with 200.
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
    let old_answered = old_ids().filter(&mut send).count();
    let created: BTreeSet<_> = new_ids().filter(send).collect();
    assert!(old_answered > 0 && !created.is_empty(), "not all of the store is damaged");
    created
}

#[test]
fn truncated_store_is_refused_and_unchanged() {
    let stopped = store();
    truncate(stopped.folder());
    let bytes = || fs::read(stopped.folder().join(STORE)).expect("the file is there");
    let before = bytes();
    for words in ["serve", "export"] {
        let (status, said) = failure(binary_in(stopped.folder()).arg(words));
        assert_eq!(status, Some(1), "{words}");
        assert!(said.contains("malformed"), "{words}: {said}");
        assert!(bytes() == before, "{words} changes the file");
        assert_eq!(fs::read_dir(stopped.folder()).expect("a folder").count(), 2, "{words}");
    }
}

/// The file is damaged while the server has it open, with some of its pages in memory.
#[test]
fn damaged_store_is_500_where_damaged_and_loses_no_readable_plant() {
    for damage in [overwrite, truncate] {
        let server = store().start();
        // With this commit in the WAL, the next start does not refuse the truncated file.
        server.create(&plant(-1, "Ficus", None)).plant();
        damage(server.folder());
        let before = readable(server.folder());
        assert!(before.len() < old_ids().count(), "some plants can no longer be read");
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

/// The page of the plants is overwritten in the file. The tokens are on another page, so they are
/// still accepted.
#[test]
fn damaged_page_is_500_and_the_service_goes_on() {
    const PAGE: usize = 4096;
    let server = Server::start();
    let page: u32 = database::open(&server)
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'plants'", [], |row| row.get(0))
        .expect("the store has plants");
    let stopped = server.stopped_by(Signal::SIGTERM);
    let file = File::options()
        .write(true)
        .open(stopped.folder().join(STORE))
        .expect("the store is a file");
    let offset = u64::from(page - 1) * PAGE as u64;
    file.write_all_at(&[0xff; PAGE], offset).expect("the file can be written");

    let server = stopped.start();
    for _ in 0..2 {
        let (error, message) = server.create(&plant(1, "Ficus", None)).refusal();
        assert_eq!(error, 500);
        assert!(!message.contains("malformed"), "{message}");
    }
    server.wait_for_log("malformed");
}

#[test]
fn copy_of_a_damaged_store_leaves_nothing() {
    let server = Server::start();
    create(&server, 0..500);
    let stopped = server.stopped_by(Signal::SIGTERM);
    let store = stopped.folder().join(STORE);
    let mut bytes = fs::read(&store).expect("the store");
    let middle = bytes.len() / 2;
    bytes[middle..middle + 65536].fill(0xff);
    fs::write(&store, bytes).expect("the store takes damage");
    let folder = TempDir::new().expect("a temporary folder");
    let to = format!("sqlite:{}", folder.path().join(STORE).display());
    let output =
        run(stopped.folder(), &["copy", "--from", &format!("sqlite:{STORE}"), "--to", &to]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    let expected =
        format!("{STORE} (server/RESTORE.md#rescue says what to do): cannot read the plants");
    assert!(said.contains(&expected), "{said}");
    assert!(files(folder.path()).is_empty());
}
