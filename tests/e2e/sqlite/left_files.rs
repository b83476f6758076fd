//! Files of a store without the store: no command uses them, and none makes a store beside them,
//! which would take the plants and tokens of another one.

use std::fs;
use std::path::Path;

use nix::sys::signal::Signal;
use plant_store_tests::{Server, binary_in, failure};

use crate::database::{INDEX, STORE, WAL};
use crate::operators::{create, files};

/// Every command refuses, names the file, and changes nothing.
fn assert_refused(folder: &Path, left: &str) {
    let before = files(folder);
    for words in ["serve", "export", "token list", "token create x", "check"] {
        let (status, said) = failure(binary_in(folder).args(words.split(' ')));
        assert_eq!(status, Some(if words == "check" { 2 } else { 1 }), "{words}");
        for expected in ["there is no store at sqlite:plant-store.db", left, "move them away"] {
            assert!(said.contains(expected), "{words}: {said}");
        }
        assert!(files(folder) == before, "{words} changes the files");
    }
}

#[test]
fn wal_without_its_store_is_refused_until_the_store_is_back() {
    let server = Server::start();
    create(&server, 0..3);
    let stopped = server.stopped_by(Signal::SIGKILL);
    let folder = stopped.folder();
    fs::rename(folder.join(STORE), folder.join("kept.db")).expect("the file moves");
    assert_refused(folder, WAL);
    fs::rename(folder.join("kept.db"), folder.join(STORE)).expect("the store is put back");
    assert!(stopped.start().export().into_keys().eq(0..3));
}

#[test]
fn each_file_that_is_left_of_a_store_is_named() {
    for left in [WAL, INDEX, "plant-store.db-journal"] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join(left), "what was left").expect("a file");
        assert_refused(folder.path(), left);
    }
}
