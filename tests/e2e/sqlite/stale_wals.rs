//! A WAL beside a store that it does not belong to: no command may use it.

use std::fs;
use std::path::Path;

use nix::sys::signal::Signal;
use plant_store_tests::{Server, binary_in, failure};

use crate::database::{INDEX, STORE, WAL};
use crate::operators::{create, files};

/// Few plants fit one WAL; many take several.
const AMOUNTS: [i64; 2] = [3, 2000];

/// Every command refuses the folder's store and changes nothing.
fn assert_refused(folder: &Path, expected: &[&str]) {
    let before = files(folder);
    for words in ["serve", "export", "token list", "token create x", "check"] {
        let (status, said) = failure(binary_in(folder).args(words.split(' ')));
        let is_missing = !folder.join(STORE).exists();
        assert_eq!(status, Some(if words == "check" && is_missing { 2 } else { 1 }), "{words}");
        for expected in expected {
            assert!(said.contains(expected), "{words}: {said}");
        }
        // Each process that reads the WAL may write its index, which holds nothing else.
        let mut after = files(folder);
        let mut before = before.clone();
        for files in [&mut before, &mut after] {
            files.remove(INDEX);
        }
        assert!(before == after, "{words} changes the files");
    }
}

fn remove(folder: &Path, file: &str) {
    fs::remove_file(folder.join(file)).expect("the file is there");
}

#[test]
fn wal_without_its_store_is_refused_until_the_store_is_back() {
    let server = Server::start();
    create(&server, 0..3);
    let stopped = server.stopped_by(Signal::SIGKILL);
    let folder = stopped.folder();
    fs::rename(folder.join(STORE), folder.join("kept.db")).expect("the file moves");
    assert_refused(folder, &["there is no store at sqlite:plant-store.db", WAL]);
    fs::rename(folder.join("kept.db"), folder.join(STORE)).expect("the store is put back");
    assert!(stopped.start().export().into_keys().eq(0..3));
}

#[test]
fn each_file_that_is_left_of_a_store_is_named() {
    for left in [WAL, INDEX, "plant-store.db-journal"] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join(left), "what was left").expect("a file");
        assert_refused(folder.path(), &["there is no store at", left, "move them away"]);
    }
}

/// The likely mistake: a backup put back over the store after a crash.
#[test]
fn backup_of_the_store_beside_the_wal_of_a_crash_is_refused() {
    for plants in AMOUNTS {
        let server = Server::start();
        create(&server, 0..plants);
        server.command(&["copy", "--from", "sqlite:plant-store.db", "--to", "sqlite:backup.db"]);
        create(&server, plants..plants + 3);
        let stopped = server.stopped_by(Signal::SIGKILL);
        let folder = stopped.folder();
        fs::rename(folder.join("backup.db"), folder.join(STORE)).expect("the backup is put back");
        assert_refused(folder, &["plant-store.db-wal does not belong to sqlite:plant-store.db"]);
        // SQLite would roll it back into the store.
        let journal = folder.join("plant-store.db-journal");
        fs::rename(folder.join(WAL), &journal).expect("the file moves");
        assert_refused(folder, &["plant-store.db-journal does not belong to"]);
        fs::remove_file(journal).expect("the file is there");
        assert!(stopped.start().export().into_keys().eq(0..plants), "the backup is whole");
    }
}

/// Even if a part of the WAL was copied into the file already, the WAL still has all of it.
#[test]
fn copy_of_the_file_from_the_time_of_its_wal_is_served_whole_also_under_another_name() {
    let server = Server::start();
    create(&server, 0..1500);
    let store = server.folder().join(STORE);
    let wal = server.folder().join(WAL);
    let salts = || fs::read(&wal).expect("the WAL")[16..24].to_vec();
    let mut plants = 1500;
    // The copy counts only if the WAL has not started over since: its salts are the same.
    let copy = loop {
        let before = salts();
        let copy = fs::read(&store).expect("the store");
        create(&server, plants..plants + 10);
        plants += 10;
        if salts() == before {
            break copy;
        }
    };
    let stopped = server.stopped_by(Signal::SIGKILL);
    fs::write(stopped.folder().join("moved.db"), copy).expect("the folder takes files");
    fs::rename(wal, stopped.folder().join("moved.db-wal")).expect("the file moves");
    let server = stopped.with(&["--store", "sqlite:moved.db"]).start();
    let exported = server.command(&["export", "--store", "sqlite:moved.db"]);
    assert_eq!(i64::try_from(exported.lines().count()), Ok(plants));
}

/// Whether the WAL is gone, or the file is moved without it: its last plants are not in the file.
/// Of few plants, none was copied into the file yet. The token was, when the first server stopped.
#[test]
fn store_that_was_not_stopped_is_refused_without_its_wal_until_the_operator_says_so() {
    let server = Server::start().stopped_by(Signal::SIGTERM).start();
    create(&server, 0..AMOUNTS[0]);
    let stopped = server.stopped_by(Signal::SIGKILL);
    remove(stopped.folder(), WAL);
    remove(stopped.folder(), INDEX);
    assert_refused(stopped.folder(), &["was not stopped, and the WAL", WAL, "--without-wal"]);
    // What a program leaves that opens the file without its WAL.
    fs::write(stopped.folder().join(WAL), "").expect("an empty file");
    assert_refused(stopped.folder(), &["was not stopped, and the WAL", WAL, "--without-wal"]);
    let server = stopped.with(&["--without-wal"]).start();
    server.wait_for_log("remove the flag");
    assert_eq!(server.export().len(), 0);
    create(&server, 0..AMOUNTS[0]);
    let stopped = server.stopped_by(Signal::SIGKILL);
    assert!(stopped.start().export().into_keys().eq(0..AMOUNTS[0]));
}
