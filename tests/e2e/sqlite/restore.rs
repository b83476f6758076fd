//! `plant-store restore` on a file.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::slice;

use nix::sys::signal::Signal;
use plant_store_tests::{
    Server, Starting, bearer, binary_in, failure, plant, run, without_own_variables,
};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::database::{STORE, WAL};
use crate::operators::killed::before_each_call;
use crate::operators::{copy_of, create, files, names};

const BACKUP: &str = "backup.db";

/// A store whose server was killed, so that its last plants are in the WAL: plant 1 and the token
/// `revoked` are in its backup too; plant 2 and the token `new` came after it.
struct Scene {
    stopped: Starting,
    backup: PathBuf,
    /// The token `new`.
    token: String,
}

impl Scene {
    fn new() -> Self {
        let server = Server::start();
        server.create(&plant(1, "Ficus", None)).plant();
        server.command(&["token", "create", "revoked"]);
        let backup = server.folder().join(BACKUP);
        let to = format!("sqlite:{}", backup.display());
        server.command(&["copy", "--from", server.store(), "--to", &to]);
        server.create(&plant(2, "Fern", None)).plant();
        server.command(&["token", "revoke", "revoked"]);
        let token = server.command(&["token", "create", "new"]).trim_end().to_owned();
        Self { stopped: server.stopped_by(Signal::SIGKILL), backup, token }
    }

    fn folder(&self) -> &Path {
        self.stopped.folder()
    }

    /// A folder with the store alone, as its server has left it.
    fn store(&self) -> TempDir {
        let copy = copy_of(self.folder());
        for name in [BACKUP, "log"] {
            fs::remove_file(copy.path().join(name)).expect("a file");
        }
        copy
    }

    fn command(&self, folder: &Path, flags: &[&str]) -> Command {
        let mut command = binary_in(folder);
        command.arg("restore").arg(&self.backup).args(["--store", "sqlite:plant-store.db"]);
        command.args(flags);
        command
    }

    /// Runs the command, which must succeed. Returns what it prints.
    fn restored(&self, folder: &Path, flags: &[&str]) -> String {
        let output = self.command(folder, flags).output().expect("the binary starts");
        assert!(output.status.success(), "{}", said(&output));
        String::from_utf8(output.stdout).expect("text")
    }

    /// The same, which must fail. Returns what it says.
    fn refused(&self, folder: &Path, flags: &[&str]) -> String {
        let (status, said) = failure(&mut self.command(folder, flags));
        assert!(matches!(status, Some(1 | 2)), "{status:?}: {said}");
        said
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What is in the store of that folder: the ids of its plants, and the names of its tokens.
fn contents(folder: &Path) -> Result<(Vec<i64>, Vec<String>), String> {
    let text = |words: &[&str]| {
        let output = run(folder, words);
        let said = said(&output);
        output.status.success().then_some(output.stdout).ok_or(said)
    };
    let exported = String::from_utf8(text(&["export"])?).expect("text");
    let id = |line| serde_json::from_str::<serde_json::Value>(line).ok()?["id"].as_i64();
    let ids = exported.lines().map(|line| id(line).expect("an id")).collect();
    let tokens: serde_json::Value =
        serde_json::from_slice(&text(&["token", "list", "--json"])?).expect("JSON");
    let name = |token: &serde_json::Value| token["name"].as_str().expect("a name").to_owned();
    Ok((ids, tokens.as_array().expect("tokens").iter().map(name).collect()))
}

fn is(ids: &[i64], tokens: &[&str]) -> (Vec<i64>, Vec<String>) {
    (ids.to_vec(), tokens.iter().map(ToString::to_string).collect())
}

/// The folders of the stores that were put away.
fn put_away(folder: &Path) -> Vec<PathBuf> {
    let names = names(folder, "plant-store.db.before-restore-");
    names.into_iter().map(|name| folder.join(name)).collect()
}

#[test]
fn restore_takes_the_plants_of_the_backup_and_keeps_the_tokens_of_the_store() {
    let scene = Scene::new();
    let said = scene.restored(scene.folder(), &[]);
    assert!(said.contains("plants: 1") && said.contains("now start the server"), "{said}");
    assert!(!said.contains("come back"), "{said}");
    assert_eq!(contents(scene.folder()), Ok(is(&[1], &["first", "new"])));
    let old = put_away(scene.folder());
    assert_eq!(old.len(), 1);
    assert_eq!(contents(&old[0]), Ok(is(&[1, 2], &["first", "new"])), "it can be read");

    let again = scene.restored(scene.folder(), &[]);
    assert!(again.contains("holds what is in"), "{again}");
    assert_eq!(put_away(scene.folder()), old);
    // `--keep-newer` was forgotten.
    let (_, mended) = again.split_once("`plant-store ").expect(&again);
    let (mended, _) = mended.split_once('`').expect(&again);
    let mended = run(scene.folder(), &mended.split(' ').collect::<Vec<_>>());
    assert!(mended.status.success(), "{mended:?}");
    assert_eq!(contents(scene.folder()), Ok(is(&[1, 2], &["first", "new"])));
    let Scene { stopped, token, .. } = scene;
    let server = stopped.start();
    let by_new = bearer(&token);
    server.create_with(&by_new, &plant(3, "Fern", None)).plant();
}

/// A shell that has it for another command must not choose what is replaced.
#[test]
fn restore_takes_no_store_from_the_environment() {
    let scene = Scene::new();
    let mut restore = binary_in(scene.folder());
    restore.args(["restore", BACKUP]).env("PLANT_STORE_STORE", "sqlite:plant-store.db");
    let output = restore.output().expect("the binary starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("--store <URL>"), "{}", said(&output));
    assert_eq!(contents(scene.folder()), Ok(is(&[1, 2], &["first", "new"])));
}

#[test]
fn restore_with_the_tokens_of_the_backup_names_those_that_come_back() {
    let scene = Scene::new();
    let said = scene.restored(scene.folder(), &["--tokens", "backup"]);
    assert!(said.contains("tokens that come back: revoked; "), "{said}");
    assert_eq!(contents(scene.folder()), Ok(is(&[1], &["first", "revoked"])));
}

#[test]
fn restore_that_keeps_newer_plants_has_those_of_both() {
    let scene = Scene::new();
    let nothing_to_do = scene.restored(scene.folder(), &["--keep-newer"]);
    assert!(nothing_to_do.contains("holds what is in"), "{nothing_to_do}");
    let store = Connection::open(scene.folder().join(STORE)).expect("the store opens");
    store.execute_batch("DELETE FROM plants WHERE id = 1").expect("a plant is lost");
    drop(store);
    let said = scene.restored(scene.folder(), &["--keep-newer"]);
    assert!(said.contains("plants: 2, ") && said.contains("came after it: 1"), "{said}");
    assert_eq!(contents(scene.folder()), Ok(is(&[1, 2], &["first", "new"])));
}

#[test]
fn restore_beside_a_running_server_or_another_restore_is_refused() {
    let scene = Scene::new();
    let folder = File::open(scene.folder()).expect("a folder");
    folder.lock().expect("a lock");
    let said = scene.refused(scene.folder(), &[]);
    assert!(said.contains("another process does that"), "{said}");
    drop(folder);
    let mut elsewhere = binary_in(scene.folder());
    let (_, said) = failure(elsewhere.args(["restore", BACKUP, "--store", "sqlite:disk/x.db"]));
    assert!(said.contains("disk; is its disk mounted?"), "{said}");
    let Scene { stopped, backup, token } = scene;
    let server = stopped.start();
    let scene = Scene { stopped: Server::starting(), backup, token };
    let said = scene.refused(server.folder(), &[]);
    assert!(said.contains("is served by another process"), "{said}");
    assert_eq!(contents(server.folder()), Ok(is(&[1, 2], &["first", "new"])));
}

#[test]
fn restore_of_what_is_no_sound_backup_changes_nothing() {
    let scene = Scene::new();
    let before = contents(scene.folder());
    let sound = fs::read(&scene.backup).expect("the backup");
    fs::write(&scene.backup, "somebody's").expect("a file");
    let said = scene.refused(scene.folder(), &[]);
    assert!(said.contains("is not a plant store"), "{said}");
    assert!(said.contains("`plant-store restore` takes a sound backup"), "{said}");
    fs::write(&scene.backup, &sound[..sound.len() - 4096]).expect("a file");
    let said = scene.refused(scene.folder(), &[]);
    assert!(said.contains("is not sound"), "{said}");
    fs::remove_file(&scene.backup).expect("a file");
    scene.refused(scene.folder(), &[]);
    assert_eq!(contents(scene.folder()), before);
    assert!(put_away(scene.folder()).is_empty());
    assert!(names(scene.folder(), "plant-store.db-restore").is_empty());
}

/// Without `--tokens backup` nobody would know which tokens are valid.
#[test]
fn store_that_is_lost_or_damaged_is_restored_with_the_tokens_of_the_backup() {
    let scene = Scene::new();
    let lost = TempDir::new().expect("a temporary folder");
    let damaged = scene.store();
    fs::write(damaged.path().join(STORE), "damaged").expect("a file");
    for (folder, old) in [(lost.path(), 0), (damaged.path(), 1)] {
        let said = scene.refused(folder, &[]);
        assert_eq!(said.contains("`--tokens backup`"), old == 1, "{said}");
        assert_eq!(said.contains("Is its disk mounted?"), old == 0, "{said}");
        let said = scene.restored(folder, &["--tokens", "backup"]);
        assert!(said.contains("come back: first, revoked"), "{said}");
        assert_eq!(contents(folder), Ok(is(&[1], &["first", "revoked"])));
        assert_eq!(put_away(folder).len(), old);
    }
    let kept = put_away(damaged.path()).remove(0);
    assert!(kept.join(WAL).exists(), "the WAL is beside its own file");
}

/// A limit on file size stands for a disk that is full.
#[test]
fn restore_onto_a_full_disk_changes_nothing() {
    let server = Server::start();
    create(&server, 0..200);
    let backup = server.folder().join(BACKUP);
    let to = format!("sqlite:{}", backup.display());
    server.command(&["copy", "--from", server.store(), "--to", &to]);
    let token = server.token.clone();
    let stopped = Server::start().stopped_by(Signal::SIGKILL);
    let scene = Scene { stopped, backup, token };
    let before = contents(scene.folder());
    let binary = scene.command(scene.folder(), &[]);
    let mut shell = Command::new("sh");
    without_own_variables(&mut shell);
    shell.args(["-c", "trap '' XFSZ; ulimit -f 200 && exec \"$0\" \"$@\""]);
    shell.arg(binary.get_program()).args(binary.get_args()).current_dir(scene.folder());
    let output = shell.output().expect("a shell");
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert_eq!(contents(scene.folder()), before);
    assert!(put_away(scene.folder()).is_empty());
    assert!(names(scene.folder(), "plant-store.db-restore").is_empty());
}

/// After each kill the store is the old one or the new one, or every command says what to do.
#[test]
fn restore_that_is_killed_at_any_call_can_be_run_again_and_loses_nothing() {
    let scene = Scene::new();
    let old = Ok(is(&[1, 2], &["first", "new"]));
    kill_and_restore(&scene, &scene.store(), |folder| {
        let kept: Vec<_> = put_away(folder).iter().map(|folder| contents(folder)).collect();
        assert_eq!(kept, slice::from_ref(&old), "the old store is there once");
    });
}

/// SQLite would use the WAL with any file that is in the place of the store.
#[test]
fn restore_of_a_damaged_store_that_is_killed_at_any_call_keeps_the_old_wal_from_the_new_file() {
    let scene = Scene::new();
    let damaged = scene.store();
    fs::write(damaged.path().join(STORE), "damaged").expect("a file");
    let before = files(damaged.path());
    kill_and_restore(&scene, &damaged, |folder| {
        let kept: Vec<_> = put_away(folder).iter().map(|folder| files(folder)).collect();
        assert_eq!(kept.len(), 1);
        for name in [STORE, WAL] {
            assert!(kept[0][name] == before[name], "{name} is as it was");
        }
    });
}

/// Restores with the backup's tokens in copies of that folder, killed at each call, and looks at
/// what the kill and the next runs have left.
fn kill_and_restore(scene: &Scene, store: &TempDir, check_old: impl Fn(&Path)) {
    let flags = ["--tokens", "backup"];
    let old = contents(copy_of(store.path()).path());
    let restored = Ok(is(&[1], &["first", "revoked"]));
    before_each_call(
        || copy_of(store.path()),
        |folder| scene.command(folder, &flags),
        |folder| {
            // A look must not change what comes next.
            let found = contents(copy_of(folder).path());
            if folder.join(STORE).exists() {
                assert!(found == old || found == restored, "{found:?}");
            } else {
                let said = found.expect_err("there is no store");
                assert!(said.contains("run the same `plant-store restore` again"), "{said}");
                let (status, said) = failure(binary_in(folder).arg("serve"));
                assert_eq!(status, Some(1));
                assert!(said.contains("run the same `plant-store restore` again"), "{said}");
            }
            scene.restored(folder, &flags);
            assert_eq!(contents(folder), restored);
            let again = scene.restored(folder, &flags);
            assert!(again.contains("holds what is in"), "{again}");
            assert!(names(folder, "plant-store.db-restore").is_empty());
            check_old(folder);
        },
    );
}
