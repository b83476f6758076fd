//! Orphaned files of a store. No command uses them, and no command creates a store beside them: the
//! new store would get plants and tokens of another store.

use std::fs;
use std::path::Path;

use nix::sys::signal::Signal;
use plant_store_tests::{Server, binary_in, failure};

use crate::database::{STORE, WAL, WAL_INDEX};
use crate::operators::{create, files};

/// Asserts that every command fails, names the orphaned file, and changes nothing.
fn assert_refused(folder: &Path, left: &str) {
    let before = files(folder);
    for words in ["serve", "export", "token list", "token create x", "check"] {
        let (status, stderr) = failure(binary_in(folder).args(words.split(' ')));
        assert_eq!(status, Some(if words == "check" { 2 } else { 1 }), "{words}");
        for expected in ["there is no store at sqlite:plant-store.db", left, "move them away"] {
            assert!(stderr.contains(expected), "{words}: {stderr}");
        }
        assert!(files(folder) == before, "{words} changes the files");
    }
}

#[test]
fn orphaned_wal_is_refused_until_its_store_is_back() {
    let server = Server::start();
    create(&server, 0..3);
    let stopped = server.stopped_by(Signal::SIGKILL);
    let folder = stopped.folder();
    fs::rename(folder.join(STORE), folder.join("kept.db")).expect("the file moves");
    assert_refused(folder, WAL);
    fs::rename(folder.join("kept.db"), folder.join(STORE)).expect("the file moves back");
    assert!(stopped.start().export().into_keys().eq(0..3));
}

#[test]
fn orphaned_file_is_named_by_every_command() {
    for left in [WAL, WAL_INDEX, "plant-store.db-journal"] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join(left), "orphaned").expect("a file");
        assert_refused(folder.path(), left);
    }
}
