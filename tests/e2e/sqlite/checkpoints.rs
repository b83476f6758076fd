//! A process that dies during a checkpoint: the WAL is copied into the database in part.

use std::fs;
use std::path::Path;

use nix::sys::signal::Signal;
use plant_store_tests::{Server, plant, run};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::database::{STORE, WAL};

const PAGE: usize = 4096;

/// The bytes of a store.
struct Files {
    store: Vec<u8>,
    wal: Vec<u8>,
}

impl Files {
    fn read(folder: &Path) -> Self {
        let read = |name| fs::read(folder.join(name)).expect("the file is there");
        Self { store: read(STORE), wal: read(WAL) }
    }

    /// Exports the store from a folder that holds these two files alone.
    fn export(&self) -> String {
        let folder = TempDir::new().expect("a temporary folder");
        fs::write(folder.path().join(STORE), &self.store).expect("a file");
        fs::write(folder.path().join(WAL), &self.wal).expect("a file");
        let output = run(folder.path(), &["export"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("standard output is text")
    }
}

/// The bytes of that store after a checkpoint.
fn checkpointed(path: &Path) -> Vec<u8> {
    let store = Connection::open(path).expect("the store opens");
    store.query_row("PRAGMA wal_checkpoint", [], |_| Ok(())).expect("a checkpoint");
    fs::read(path).expect("the file is there")
}

/// A checkpoint copies pages in ascending order. So page 1, which holds the number of all pages, is
/// copied first.
#[test]
fn checkpoint_cut_off_after_any_page_loses_no_plant() {
    let server = Server::start();
    for id in 0..20 {
        server.create(&plant(id, &"Ficus ".repeat(500), None)).plant();
    }
    let plants = server.command(&["export"]);
    let stopped = server.stopped_by(Signal::SIGKILL);
    let before = Files::read(stopped.folder());
    let checkpointed = checkpointed(&stopped.folder().join(STORE));
    assert!(before.store.len() < checkpointed.len(), "the WAL holds more than the file");

    for copied in (0..=checkpointed.len()).step_by(PAGE) {
        let old = before.store.get(copied..).unwrap_or_default();
        let store = [&checkpointed[..copied], old].concat();
        let interrupted = Files { store, wal: before.wal.clone() };
        assert!(interrupted.export() == plants, "after {copied} bytes");
    }
}
