//! Files that are removed, renamed or replaced under the running server: it notices that within
//! seconds, and ends.

use std::fs;
use std::path::Path;

use nix::sys::signal::Signal;
use plant_store_tests::{Server, plant};

use crate::database::{INDEX, STORE, WAL};
use crate::hard_to_kill::load::{Answer, Load};

/// What the server says before it ends.
const LOST: &str = "the store is lost: stopping";

fn rename(folder: &Path, from: &str, to: &str) {
    fs::rename(folder.join(from), folder.join(to)).expect("the file is there");
}

/// Replaces that file of a folder by a copy of the one in the other folder, at once.
fn put(from: &Path, file: &str, into: &Path) {
    fs::copy(from.join(file), into.join("other")).expect("a copy");
    rename(into, "other", file);
}

/// What was answered is in the two files; put together again they are the store.
#[test]
fn file_that_was_renamed_under_load_has_every_acknowledged_plant_when_it_is_back() {
    let mut load = Load::default();
    let server = Server::start();
    let sent = load.run_to_end(&server, |progress| {
        progress.wait_for(500, Answer::Created);
        rename(server.folder(), STORE, "elsewhere.db");
        server.wait_for_log(LOST);
    });
    let (status, stopped) = server.ended();
    assert_eq!(status.code(), Some(1));
    rename(stopped.folder(), "elsewhere.db", STORE);
    let server = stopped.start();
    load.check(&server, &sent);
}

/// Another store, with its own WAL, is at the path: nothing of it may be touched at the end.
#[test]
fn store_that_has_replaced_the_served_one_is_left_as_it_is() {
    let other = Server::start();
    other.create(&plant(7, "Fern", None)).plant();
    let other = other.stopped_by(Signal::SIGKILL);

    let mut server = Server::start();
    server.create(&plant(1, "Ficus", None)).plant();
    for file in [STORE, WAL] {
        put(other.folder(), file, server.folder());
    }
    assert_eq!(server.wait().code(), Some(1));
    let log = server.log();
    let last = log.lines().last().expect("a last line");
    assert!(last.starts_with("plant-store: the store is not in its place any more: "), "{last}");
    assert!(last.contains("another file is at"), "{last}");
    for file in [STORE, WAL] {
        let bytes = |folder: &Path| fs::read(folder.join(file)).expect("the file is there");
        assert!(bytes(server.folder()) == bytes(other.folder()), "{file}");
    }
}

/// Without it, the server and a command do not see each other's commits.
#[test]
fn index_of_the_wal_that_was_removed_ends_the_service_and_the_next_start_makes_it_again() {
    let mut server = Server::start();
    server.create(&plant(1, "Ficus", None)).plant();
    fs::remove_file(server.folder().join(INDEX)).expect("the file is there");
    assert_eq!(server.wait().code(), Some(1));
    let log = server.log();
    let last = log.lines().last().expect("a last line");
    assert!(last.contains("plant-store.db-shm was removed or renamed"), "{last}");
    let (_, stopped) = server.ended();
    assert!(stopped.start().export().into_keys().eq([1]));
}
