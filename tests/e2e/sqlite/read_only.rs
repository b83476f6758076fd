//! A store that the process has no permission to write is not served and not changed.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use nix::sys::signal::Signal;
use nix::unistd::geteuid;
use plant_store_tests::{Server, binary_in, failure, plant};
use tempfile::TempDir;

use crate::database::STORE;

/// `plant-store serve` as a process that file permissions restrict. A root process has to drop its
/// capabilities for that.
fn serve(folder: &Path) -> Command {
    let mut command = match geteuid().is_root() {
        true => {
            let mut unprivileged = Command::new("setpriv");
            unprivileged.arg("--bounding-set=-all").arg(binary_in(folder).get_program());
            unprivileged
        }
        false => binary_in(folder),
    };
    command.args(["serve", "--listen", "127.0.0.1:0"]).current_dir(folder);
    command
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
    assert!(said.contains("cannot create the store: Permission denied"), "{said}");
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
        (
            folder,
            0o500,
            0o700,
            "cannot open the store: permission to write to the folder . is denied",
        ),
        (&store, 0o400, 0o600, "permission to read and write plant-store.db is denied"),
        (&store, 0o200, 0o600, "permission to read and write plant-store.db is denied"),
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
