//! Stores that this process may only read: `check`, `export` and `copy` read them, but never past a
//! WAL.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use nix::sys::signal::Signal;
use plant_store_tests::{Server, plant};
use tempfile::TempDir;

use crate::database::{STORE, WAL};
use crate::operators::files;
use crate::without_store::starts::unprivileged;

fn set_modes(folder: &Path, of_folder: u32, of_files: u32) {
    let set = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode));
    set(folder, 0o700).expect("the test owns the folder");
    for name in files(folder).into_keys() {
        set(&folder.join(name), of_files).expect("the test owns the file");
    }
    set(folder, of_folder).expect("the test owns the folder");
}

/// Copies these files of a folder to a new folder.
fn copy_of(from: &Path, names: &[&str]) -> TempDir {
    let to = TempDir::new().expect("a temporary folder");
    for name in names {
        fs::copy(from.join(name), to.path().join(name)).expect("a copy");
    }
    to
}

/// Runs the commands that read, as a user who may not write to the folder. Returns the stderr of
/// each command that fails.
fn read(folder: &Path) -> Vec<String> {
    let elsewhere = TempDir::new().expect("a temporary folder");
    let from = format!("sqlite:{}", folder.join(STORE).display());
    let copy = ["copy", "--from", &from, "--to", "sqlite:copy.db", "--tokens", "from"];
    let commands: [&[&str]; 4] = [
        &["check", "--store", &from],
        &["export", "--store", &from],
        &["token", "list", "--store", &from],
        &copy,
    ];
    let run = |words: &&[&str]| {
        let output = unprivileged(elsewhere.path()).args(*words).output();
        let output = output.expect("the binary starts");
        (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
    };
    commands.iter().filter_map(run).collect()
}

#[test]
fn file_without_a_wal_is_read_and_left_unchanged() {
    let server = Server::start();
    server.create(&plant(1, "Ficus", None)).plant();
    let stopped = server.stopped_by(Signal::SIGTERM);
    for (of_folder, of_files) in [(0o500, 0o400), (0o500, 0o600), (0o700, 0o400)] {
        let folder = copy_of(stopped.folder(), &[STORE]);
        let before = files(folder.path());
        set_modes(folder.path(), of_folder, of_files);
        assert_eq!(read(folder.path()), [""; 0], "{of_folder:o} {of_files:o}");
        assert!(files(folder.path()) == before);
        set_modes(folder.path(), 0o700, 0o600);
    }
}

/// The WAL of a crash contains a plant that the file lacks. SQLite needs the index to read it.
#[test]
fn file_with_a_wal_that_cannot_be_read_is_refused() {
    let server = Server::start();
    server.create(&plant(1, "Ficus", None)).plant();
    let folder = copy_of(server.folder(), &[STORE, WAL]);
    set_modes(folder.path(), 0o500, 0o400);
    let failed = read(folder.path());
    set_modes(folder.path(), 0o700, 0o600);
    assert_eq!(failed.len(), 4, "{failed:?}");
    assert!(failed.iter().all(|stderr| stderr.contains("WAL")), "{failed:?}");
}

/// Through the WAL and its index, which the server keeps.
#[test]
fn served_store_is_read_without_write_access() {
    let server = Server::start();
    server.create(&plant(1, "Ficus", None)).plant();
    set_modes(server.folder(), 0o500, 0o400);
    let failed = read(server.folder());
    set_modes(server.folder(), 0o700, 0o600);
    assert_eq!(failed, [""; 0]);
}
