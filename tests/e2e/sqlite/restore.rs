//! A restore as OPERATING.md describes it: the old files are moved away, and a copy of the backup takes
//! their place.

use std::fs;
use std::path::Path;

use nix::sys::signal::Signal;
use plant_store_tests::{Server, Starting, bearer, binary_in, failure, plant, run};

use crate::database::{STORE, WAL};
use crate::operators::files;
use crate::sqlite::damage::large_store;

const BACKUP: &str = "sqlite:backup.db";

/// The folder to which the files of the store are moved.
const OLD: &str = "old";

/// A killed server whose last changes are in the WAL, and a backup from before these changes: the
/// backup contains plant 1 and accepts the first token, which was revoked since.
struct Scene {
    stopped: Starting,
    /// The token that was issued after the backup.
    new: String,
    /// The token that was revoked after the backup.
    revoked: String,
}

impl Scene {
    fn new() -> Self {
        let server = Server::start();
        server.create(&plant(1, "Ficus", None)).plant();
        let store = server.store();
        server.command(&["copy", "--from", store, "--to", BACKUP, "--tokens", "from"]);
        server.create(&plant(2, "Fern", None)).plant();
        let new = server.command(&["token", "create", "new"]).trim_end().to_owned();
        server.command(&["token", "revoke", "first"]);
        let revoked = server.token.clone();
        Self { stopped: server.stopped_by(Signal::SIGKILL), new, revoked }
    }

    fn folder(&self) -> &Path {
        self.stopped.folder()
    }

    /// Moves the store's file, its WAL and its index away together.
    fn move_away(&self) {
        let old = self.folder().join(OLD);
        fs::create_dir(&old).expect("a folder");
        for name in files(self.folder()).into_keys().filter(|name| name.starts_with(STORE)) {
            fs::rename(self.folder().join(&name), old.join(&name)).expect("the file moves");
        }
    }

    fn restore(&self) -> String {
        let old = format!("sqlite:{OLD}/{STORE}");
        let to = format!("sqlite:{STORE}");
        let copy = ["copy", "--from", BACKUP, "--to", &to, "--tokens", &old];
        let output = run(self.folder(), &copy);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    }
}

#[test]
fn restored_store_has_the_plants_of_the_backup_and_the_old_tokens() {
    let scene = Scene::new();
    let before = files(scene.folder());
    assert!(!before[WAL].is_empty(), "the last changes are in the WAL");
    scene.move_away();
    let stdout = scene.restore();
    assert!(stdout.contains("accepts the token new\n") && !stdout.contains("first"), "{stdout}");
    let after = files(&scene.folder().join(OLD));
    for name in [STORE, WAL] {
        assert!(after[name] == before[name], "{name} is unchanged, so the restore can be undone");
    }
    let Scene { stopped, new, revoked } = scene;
    let server = stopped.start();
    assert!(server.export().into_keys().eq([1]));
    let refused = server.create_with(&bearer(&revoked), &plant(3, "Ivy", None));
    assert_eq!(refused.error(), 401, "a revoked token stays revoked");
    server.create_with(&bearer(&new), &plant(3, "Ivy", None)).plant();
}

/// A new store beside the old WAL would adopt it.
#[test]
fn restore_beside_the_old_wal_is_refused() {
    let scene = Scene::new();
    fs::rename(scene.folder().join(STORE), scene.folder().join("old.db")).expect("the file moves");
    let to = format!("sqlite:{STORE}");
    let copy = ["copy", "--from", BACKUP, "--to", &to, "--tokens", "from"];
    let (_, stderr) = failure(binary_in(scene.folder()).args(copy));
    assert!(stderr.contains(WAL), "{stderr}");
    assert!(!scene.folder().join(STORE).exists());
}

#[test]
fn start_without_the_moved_store_creates_none() {
    let scene = Scene::new();
    scene.move_away();
    let serve = ["serve", "--no-create"];
    let (status, stderr) = failure(binary_in(scene.folder()).args(serve));
    assert_eq!(status, Some(1));
    assert!(stderr.contains("there is no store at"), "{stderr}");
    assert!(!scene.folder().join(STORE).exists());
}

/// Only the table of the tokens is read, and the pages of the plants are destroyed.
#[test]
fn damaged_store_can_still_provide_its_tokens() {
    let scene = Scene::new();
    let folder = large_store();
    let file = folder.path().join(STORE);
    let mut bytes = fs::read(&file).expect("the store");
    let middle = bytes.len() / 2;
    bytes[middle..middle + 8192].fill(0);
    fs::write(&file, &bytes).expect("the store");
    let damaged = format!("sqlite:{}", file.display());
    let copy = ["copy", "--from", BACKUP, "--to", "sqlite:new.db", "--tokens", &damaged];
    let output = run(scene.folder(), &copy);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains("plants: 1, tokens: 1"), "{stdout}");
    assert!(fs::read(&file).expect("the store") == bytes, "the file is unchanged");
    assert_eq!(files(folder.path()).len(), 1, "no other file is left");
}
