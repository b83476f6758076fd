//! A store that the process cannot write is not served and not changed. While it is stopped, it can
//! be read.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use nix::sys::signal::Signal;
use nix::unistd::geteuid;
use plant_store_tests::{Server, Starting, binary_in, failure, plant, without_own_variables};
use tempfile::TempDir;

use crate::database::{INDEX, STORE, WAL};
use crate::operators::{create, files};

/// The binary as a process that file permissions restrict. A root process has to drop its
/// capabilities for that.
fn restricted(folder: &Path) -> Command {
    let mut command = match geteuid().is_root() {
        true => {
            let mut unprivileged = Command::new("setpriv");
            unprivileged.arg("--bounding-set=-all").arg(binary_in(folder).get_program());
            without_own_variables(&mut unprivileged);
            unprivileged
        }
        false => binary_in(folder),
    };
    command.current_dir(folder);
    command
}

/// `plant-store serve` as such a process.
fn serve(folder: &Path) -> Command {
    let mut command = restricted(folder);
    command.args(["serve", "--listen", "127.0.0.1:0"]);
    command
}

/// What it prints; it must succeed.
fn printed(command: &mut Command) -> String {
    let output = command.output().expect("the binary starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// Stores that no server runs on, each with two plants: one that was stopped, one that was killed, so
/// that a plant is in its WAL alone, and one of these without the WAL's index.
fn stores() -> Vec<Starting> {
    let signals = [Signal::SIGTERM, Signal::SIGKILL, Signal::SIGKILL];
    let stores = signals.map(|signal| {
        let server = Server::start().stopped_by(Signal::SIGTERM).start();
        for id in 1..=2 {
            server.create(&plant(id, "Ficus", None)).plant();
        }
        server.stopped_by(signal)
    });
    fs::remove_file(stores[2].folder().join("plant-store.db-shm")).expect("an index");
    stores.into()
}

#[test]
fn stopped_store_without_the_right_to_write_is_copied_exported_and_checked() {
    for stopped in stores() {
        let folder = stopped.folder();
        let before = files(folder);
        for name in before.keys() {
            permit(&folder.join(name), 0o400);
        }
        permit(folder, 0o500);
        let exported = printed(restricted(folder).arg("export"));
        assert_eq!(exported.lines().count(), 2, "{exported}");
        let checked = printed(restricted(folder).arg("check"));
        assert!(checked.contains("is sound; plants: 2, tokens: 1"), "{checked}");
        assert!(printed(restricted(folder).args(["token", "list"])).contains("first"));
        let other = TempDir::new().expect("a temporary folder");
        let copy = format!("sqlite:{}", other.path().join(STORE).display());
        let from = "sqlite:plant-store.db";
        printed(restricted(folder).args(["copy", "--from", from, "--to", &copy]));
        assert_eq!(printed(restricted(folder).args(["export", "--store", &copy])), exported);
        assert!(files(folder) == before, "reading changes nothing");
        permit(folder, 0o700);
        for name in before.keys() {
            permit(&folder.join(name), 0o600);
        }
        assert_eq!(stopped.start().export().len(), 2);
    }
}

#[test]
fn stopped_store_whose_wal_alone_may_not_be_written_is_checked_and_unreadable_is_denied() {
    let stopped = Server::start().stopped_by(Signal::SIGKILL);
    let folder = stopped.folder();
    for file in [WAL, INDEX] {
        permit(&folder.join(file), 0o400);
        let checked = printed(restricted(folder).arg("check"));
        assert!(checked.contains("is sound; plants: 0, tokens: 1"), "{checked}");
        permit(&folder.join(file), 0o600);
    }
    permit(&folder.join(WAL), 0o000);
    let (status, said) = failure(restricted(folder).arg("check"));
    assert_eq!(status, Some(2));
    assert!(said.contains("permission to read ") && said.contains(WAL), "{said}");
}

/// A limit on file size stands for a disk that is full: the WAL's index cannot grow.
#[test]
fn stopped_store_on_a_full_disk_is_exported_and_checked() {
    for stopped in stores() {
        for (command, expected) in [("export", "{\"id\":2,"), ("check", "is sound; plants: 2")] {
            let binary = binary_in(stopped.folder());
            let script = format!(
                "trap '' XFSZ && ulimit -f 0 && exec '{}' {command}",
                binary.get_program().display()
            );
            let mut shell = Command::new("sh");
            let said = printed(shell.args(["-c", &script]).current_dir(stopped.folder()));
            assert!(said.contains(expected), "{said}");
        }
        assert_eq!(stopped.start().export().len(), 2);
    }
}

/// A reader beside a server has to write the WAL's index.
#[test]
fn served_store_without_the_right_to_write_cannot_be_read() {
    let server = Server::start();
    permit(&server.folder().join(STORE), 0o400);
    for command in ["export", "check"] {
        let (status, said) = failure(restricted(server.folder()).arg(command));
        assert_eq!(status, Some(if command == "check" { 2 } else { 1 }));
        assert!(said.contains("permission to read and write "), "{said}");
        assert!(said.contains("plant-store.db is denied to the user "), "{said}");
    }
}

#[test]
fn server_does_not_start_while_its_store_is_read_without_the_right_to_write() {
    let server = Server::start();
    create(&server, 0..200);
    let stopped = server.stopped_by(Signal::SIGTERM);
    let (folder, store) = (stopped.folder(), stopped.folder().join(STORE));
    permit(&store, 0o400);
    let mut export = restricted(folder).arg("export").stdout(Stdio::piped()).spawn().expect("it");
    let mut plants = BufReader::new(export.stdout.take().expect("it is piped"));
    // The pipe holds less than all plants, so the export waits for its reader.
    plants.read_line(&mut String::new()).expect("a plant");
    permit(&store, 0o600);
    let (status, said) = failure(&mut serve(folder));
    assert_eq!(status, Some(1));
    assert!(said.contains("is served by another process already"), "{said}");
    assert_eq!(plants.lines().count(), 199);
    assert!(export.wait().expect("it ends").success());
    assert_eq!(stopped.start().export().len(), 200);
}

fn permit(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("the file is ours");
}

#[test]
fn read_only_folder_gets_no_store() {
    let folder = TempDir::new().expect("a temporary folder");
    permit(folder.path(), 0o500);
    let (status, said) = failure(&mut serve(folder.path()));
    assert_eq!(status, Some(1));
    assert!(
        said.contains("cannot create the store: permission to write to the folder /"),
        "{said}"
    );
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[test]
fn read_only_store_is_refused_and_unchanged() {
    let server = Server::start();
    server.create(&plant(1, "Ficus", None)).plant();
    let stopped = server.stopped_by(Signal::SIGTERM);
    let (folder, store) = (stopped.folder(), stopped.folder().join(STORE));
    let before = fs::read(&store).expect("the file is there");
    for (path, read_only, writable, expected) in [
        (folder, 0o500, 0o700, "permission to write to the folder /"),
        (&store, 0o400, 0o600, "plant-store.db is denied to the user "),
        (&store, 0o200, 0o600, "plant-store.db is denied to the user "),
    ] {
        permit(path, read_only);
        let (status, said) = failure(&mut serve(folder));
        assert_eq!(status, Some(1));
        assert!(said.contains(expected), "{said}");
        permit(path, writable);
        assert!(fs::read(&store).expect("the file is there") == before);
    }
    assert_eq!(stopped.start().export().len(), 1);
}

/// The server has its files open already, so it goes on writing them.
#[test]
fn folder_made_read_only_under_the_server_loses_no_plant() {
    let command = |to_serve: &mut Command| {
        let folder = to_serve.get_current_dir().expect("a folder").to_owned();
        *to_serve = serve(&folder);
    };
    let server = Server::starting().command(command).start();
    server.create(&plant(1, "Ficus", None)).plant();
    permit(server.folder(), 0o500);
    server.create(&plant(2, "Fern", None)).plant();
    permit(server.folder(), 0o700);
    assert_eq!(server.stopped_by(Signal::SIGKILL).start().export().len(), 2);
}
