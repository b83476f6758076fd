//! Files that are removed, renamed or replaced under a running server. The server notices within
//! seconds, and exits.

use plant_store_tests::prelude::*;

use crate::database::{Prepare, STORE, WAL, WAL_INDEX};
use crate::postgres::Paused;

/// What the server logs before it exits.
const LOST: &str = "the store is lost: stopping";

fn rename(folder: &Path, from: &str, to: &str) {
    fs::rename(folder.join(from), folder.join(to)).expect("the file exists");
}

/// Atomically replaces a file of the folder `into` with a copy of the file in the folder `from`.
fn put(from: &Path, file: &str, into: &Path) {
    fs::copy(from.join(file), into.join("other")).expect("a copy");
    rename(into, "other", file);
}

/// Another store with its own WAL is at the path now. The server must not touch it when it exits.
#[test]
fn replacement_of_a_served_store_is_left_unchanged() {
    let other = Server::start();
    other.create(&plant(7, "Fern", None)).plant();
    let other = other.stopped_by(Signal::SIGKILL);

    let mut server = Server::start();
    server.create(&plant(1, "Ficus", None)).plant();
    for file in [STORE, WAL] {
        put(other.folder(), file, server.folder());
    }
    assert_eq!(server.wait().code(), Some(3));
    let log = server.log();
    let last = log.lines().last().expect("a last line");
    assert!(last.starts_with("plant-store: the store's files are no longer in place: "), "{last}");
    assert!(last.contains("another file is at"), "{last}");
    for file in [STORE, WAL] {
        let bytes = |folder: &Path| fs::read(folder.join(file)).expect("the file exists");
        assert!(bytes(server.folder()) == bytes(other.folder()), "{file}");
    }
}

/// The command would create a second WAL index, and the server would overwrite the command's
/// commits. In the first round the server is paused, so that it cannot exit before the command
/// runs.
#[test]
fn command_on_a_served_store_without_its_wal_index_is_refused() {
    for round in 0..amount(3, 14) {
        let mut server = Server::start();
        server.create(&plant(1, "Ficus", None)).plant();
        let paused = (round == 0).then(|| Paused::pause(server.pid()));
        fs::remove_file(server.folder().join(WAL_INDEX)).expect("the file exists");
        let created = server.run("token create second");
        let is_created = created.code == Some(0);
        let is_refused = created.stderr.contains("the store's -shm file is missing");
        assert!(is_refused || is_created && paused.is_none(), "{created:?}");
        drop(paused);
        // Whichever came first, the server must not overwrite the commit of the command.
        server.wait_for_log(LOST);
        assert_eq!(server.wait().code(), Some(3));
        let (_, stopped) = server.ended();
        let server = stopped.start();
        assert!(server.export().into_keys().eq([1]));
        let listed = server.run("token list --json").succeeded();
        assert_eq!(listed.contains("second"), is_created);
    }
}

/// The files are checked before and after each commit, not only once a second.
#[test]
fn create_after_a_file_is_removed_or_truncated_gets_no_200() {
    let remove: Prepare = |file| fs::remove_file(file).expect("the file exists");
    let truncate: Prepare = |file| drop(File::create(file).expect("the file exists"));
    let [removed, truncated] = ["was removed or renamed", "was truncated"];
    let rows = [
        (STORE, remove, removed),
        (WAL, remove, removed),
        (WAL_INDEX, remove, removed),
        (STORE, truncate, truncated),
        (WAL, truncate, truncated),
    ];
    each_row(rows, |(file, change, expected)| {
        let mut server = Server::start();
        server.create(&plant(1, "Ficus", None)).plant();
        change(&server.folder().join(file));
        let request = server.post(&plant(2, "Fern", None));
        // If the inspection finds the loss first, the connection ends without an answer.
        let answer = Connection::try_open(server.address).and_then(|mut connection| {
            connection.try_send(&request);
            connection.try_receive()
        });
        if let Some(answer) = answer {
            let error = answer.error();
            assert!(error == 500 || error == 503, "{error}");
        }
        assert_eq!(server.wait().code(), Some(3));
        assert!(server.log().contains(expected), "{}", server.log());
    });
}
