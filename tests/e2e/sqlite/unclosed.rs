//! A stop that cannot close its store.

use nix::sys::signal::Signal;
use plant_store_tests::{Server, plant};

use crate::database;

/// Another program holds a write transaction.
#[test]
fn stop_that_cannot_close_its_store_is_status_1_and_the_last_line_says_so() {
    let mut server = Server::start();
    server.create(&plant(1, "Ficus", None)).plant();
    let lock = database::locked(&server);
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait().code(), Some(1));
    let log = server.log();
    let last = log.lines().last().expect("a last line");
    assert!(last.starts_with("plant-store: the store was not closed: "), "{log}");
    assert!(!log.contains("\"stopped\""), "{log}");
    assert!(last.ends_with("start with --without-wal"), "{last}");

    // SQLite copies the WAL into the file now, and removes it.
    drop(lock);
    let (_, stopped) = server.ended();
    let server = stopped.with(&["--without-wal"]).start();
    assert_eq!(server.export().len(), 1);
}
