//! Files that are removed, renamed or replaced under the running server: it notices that within
//! seconds, and ends.

use std::fs;
use std::path::Path;
use std::thread;

use nix::sys::signal::Signal;
use plant_store_tests::{Server, plant};

use crate::database::{INDEX, STORE, WAL};
use crate::hard_to_kill::load::Load;

/// What the server says before it ends.
const LOST: &str = "the store is lost: stopping";

/// What an operator does, how, and what the server says of it.
type Deed = (&'static str, fn(&Path), &'static str);

const DEEDS: [Deed; 6] = [
    ("rm of all", |folder| [STORE, WAL, INDEX].iter().for_each(|file| remove(folder, file)), STORE),
    ("rm of the file", |folder| remove(folder, STORE), "was removed or renamed"),
    ("rm of the WAL", |folder| remove(folder, WAL), "plant-store.db-wal was removed or renamed"),
    ("mv of the file", |folder| rename(folder, STORE, "elsewhere.db"), "was removed or renamed"),
    ("mv of another file over it", |folder| replace(folder, STORE), "another file is at"),
    ("mv of another WAL over it", |folder| replace(folder, WAL), "another file is at"),
];

fn remove(folder: &Path, file: &str) {
    fs::remove_file(folder.join(file)).expect("the file is there");
}

fn rename(folder: &Path, from: &str, to: &str) {
    fs::rename(folder.join(from), folder.join(to)).expect("the file is there");
}

fn replace(folder: &Path, file: &str) {
    put(folder, file, folder);
}

/// Puts a copy of the file in the other folder into its place, at once.
fn put(from: &Path, file: &str, into: &Path) {
    fs::copy(from.join(file), into.join("other")).expect("a copy");
    rename(into, "other", file);
}

/// The process ends by itself, and its last line says why.
fn assert_ends(server: &mut Server, deed: &str, expected: &str) {
    assert_eq!(server.wait().code(), Some(1), "{deed}");
    let log = server.log();
    let last = log.lines().last().expect("a last line");
    assert!(last.starts_with("plant-store: the store is not in its place any more: "), "{last}");
    assert!(last.contains(expected), "{deed}: {last}");
}

#[test]
fn idle_server_ends_when_a_file_is_gone_or_replaced() {
    thread::scope(|scope| {
        for (deed, act, expected) in DEEDS {
            scope.spawn(move || {
                let mut server = Server::start();
                server.create(&plant(1, "Ficus", None)).plant();
                act(server.folder());
                assert_ends(&mut server, deed, expected);
            });
        }
    });
}

/// What was answered is in the two files; put together again they are the store.
#[test]
fn file_that_was_renamed_under_load_has_every_acknowledged_plant_when_it_is_back() {
    let (mut load, server) = (Load::default(), Server::start());
    let sent = load.run(&server, |progress| {
        progress.wait_for_answers(&server, 500);
        rename(server.folder(), STORE, "elsewhere.db");
        server.wait_for_log(LOST);
    });
    let (status, stopped) = server.ended();
    assert_eq!(status.code(), Some(1));
    rename(stopped.folder(), "elsewhere.db", STORE);
    let server = stopped.start();
    load.check(&server, &sent);
    load.send_again(&server, &sent);
}

/// Another store, with its own WAL, is in the place: nothing of it may be touched at the end.
#[test]
fn store_that_was_put_in_the_place_is_left_as_it_is() {
    let other = Server::start();
    other.create(&plant(7, "Fern", None)).plant();
    let other = other.stopped_by(Signal::SIGKILL);

    let mut server = Server::start();
    server.create(&plant(1, "Ficus", None)).plant();
    for file in [STORE, WAL] {
        put(other.folder(), file, server.folder());
    }
    assert_ends(&mut server, "another store", "another file is at");
    for file in [STORE, WAL] {
        let bytes = |folder: &Path| fs::read(folder.join(file)).expect("the file is there");
        assert!(bytes(server.folder()) == bytes(other.folder()), "{file}");
    }
}
