//! `plant-store restore`: the plants of a backup replace the plants of a store.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use nix::sys::signal::Signal;
use plant_store_tests::{
    Launched, Server, Starting, amount, bearer, binary_in, failure, plant, post, run, token,
    without_own_variables,
};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::database::{STORE, WAL};
use crate::operators::killed::kill_before_each_call;
use crate::operators::{copy_of, create, files};
use crate::sqlite::damage::{MANY, large_store};

const BACKUP: &str = "backup.db";

/// A store whose server was killed, so that its last plants are in the WAL, and a backup of it. The
/// backup contains plant 1 and the token `revoked`. After the backup, plant 2 and the token `new`
/// were created, and the token `revoked` was revoked.
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

    /// Returns a folder that contains only the store, as its server has left it.
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

    /// Runs a restore that must succeed, and returns its stdout.
    fn restored(&self, folder: &Path, flags: &[&str]) -> String {
        let output = self.command(folder, flags).output().expect("the binary starts");
        assert!(output.status.success(), "{}", stderr_of(&output));
        String::from_utf8(output.stdout).expect("text")
    }

    /// Runs a restore that must fail, and returns its stderr.
    fn refused(&self, folder: &Path, flags: &[&str]) -> String {
        let (status, stderr) = failure(&mut self.command(folder, flags));
        assert_eq!(status, Some(1), "{stderr}");
        stderr
    }

    /// The flag that restores the tokens of the backup.
    fn tokens_of_backup(&self) -> [&str; 2] {
        ["--tokens-of", self.backup.to_str().expect("text")]
    }
}

fn stderr_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns the ids of the plants and the names of the tokens of the store in that folder, or the
/// stderr of the command that failed to read them.
fn contents(folder: &Path) -> Result<(Vec<i64>, Vec<String>), String> {
    let text = |words: &[&str]| {
        let output = run(folder, words);
        let stderr = stderr_of(&output);
        if output.status.success() { Ok(output.stdout) } else { Err(stderr) }
    };
    let exported = String::from_utf8(text(&["export"])?).expect("text");
    let id = |line| serde_json::from_str::<serde_json::Value>(line).ok()?["id"].as_i64();
    let ids = exported.lines().map(|line| id(line).expect("an id")).collect();
    let tokens: serde_json::Value =
        serde_json::from_slice(&text(&["token", "list", "--json"])?).expect("JSON");
    let name = |token: &serde_json::Value| token["name"].as_str().expect("a name").to_owned();
    Ok((ids, tokens.as_array().expect("tokens").iter().map(name).collect()))
}

fn expected(ids: &[i64], tokens: &[&str]) -> (Vec<i64>, Vec<String>) {
    (ids.to_vec(), tokens.iter().map(ToString::to_string).collect())
}

#[test]
fn restore_replaces_the_plants_and_keeps_the_tokens() {
    let scene = Scene::new();
    let stdout = scene.restored(scene.folder(), &[]);
    assert!(stdout.contains("Plants before: 2, not in the backup: 1, now: 1."), "{stdout}");
    assert_eq!(contents(scene.folder()), Ok(expected(&[1], &["first", "new"])));
    let again = scene.restored(scene.folder(), &[]);
    assert!(again.contains("Plants before: 1, not in the backup: 0, now: 1."), "{again}");
    assert_eq!(contents(scene.folder()), Ok(expected(&[1], &["first", "new"])));
    let Scene { stopped, token, .. } = scene;
    let server = stopped.start();
    server.create_with(&bearer(&token), &plant(3, "Fern", None)).plant();
}

/// The store's plant 1 is not the plant 1 of the backup, so the restore removes it.
#[test]
fn restore_counts_a_different_plant_of_the_same_id_as_gone() {
    let scene = Scene::new();
    let server = Server::start();
    server.create(&plant(1, "Fern", None)).plant();
    let stopped = server.stopped_by(Signal::SIGTERM);
    let stdout = scene.restored(stopped.folder(), &[]);
    assert!(stdout.contains("Plants before: 1, not in the backup: 1, now: 1."), "{stdout}");
}

/// A variable that was set for another command must not choose the store that is replaced.
#[test]
fn restore_ignores_the_store_in_the_environment() {
    let scene = Scene::new();
    let mut restore = binary_in(scene.folder());
    restore.args(["restore", BACKUP]).env("PLANT_STORE_STORE", "sqlite:plant-store.db");
    let output = restore.output().expect("the binary starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr_of(&output).contains("--store <URL>"), "{}", stderr_of(&output));
    assert_eq!(contents(scene.folder()), Ok(expected(&[1, 2], &["first", "new"])));
}

#[test]
fn restore_with_tokens_of_replaces_the_tokens() {
    let scene = Scene::new();
    let stdout = scene.restored(scene.folder(), &scene.tokens_of_backup());
    assert!(
        stdout.contains("It now accepts the tokens of ") && stdout.contains(": first, revoked.\n")
    );
    assert_eq!(contents(scene.folder()), Ok(expected(&[1], &["first", "revoked"])));
}

/// Without a store nobody knows which tokens are valid, or the disk of the store is not mounted.
#[test]
fn restore_without_a_store_needs_tokens_of() {
    let scene = Scene::new();
    let lost = TempDir::new().expect("a temporary folder");
    let stderr = scene.refused(lost.path(), &[]);
    assert!(stderr.contains("there is no store at"), "{stderr}");
    assert!(stderr.contains("--tokens-of"), "{stderr}");
    assert!(files(lost.path()).is_empty());
    for _ in 0..2 {
        scene.restored(lost.path(), &scene.tokens_of_backup());
        assert_eq!(contents(lost.path()), Ok(expected(&[1], &["first", "revoked"])));
        assert!(files(lost.path()).into_keys().eq([STORE]));
    }
    let mut elsewhere = binary_in(scene.folder());
    elsewhere.args(["restore", BACKUP, "--store", "sqlite:disk/x.db", "--tokens-of", BACKUP]);
    let (_, stderr) = failure(&mut elsewhere);
    assert!(stderr.contains("disk; is its disk mounted?"), "{stderr}");
}

#[test]
fn restore_beside_a_running_server_is_refused() {
    let Scene { stopped, backup, token } = Scene::new();
    let server = stopped.start();
    let scene = Scene { stopped: Server::starting(), backup, token };
    for flags in [&[][..], &scene.tokens_of_backup()] {
        let stderr = scene.refused(server.folder(), flags);
        assert!(stderr.contains("is in use by another process"), "{stderr}");
    }
    assert_eq!(contents(server.folder()), Ok(expected(&[1, 2], &["first", "new"])));
}

/// Both start at the same time without a store: one of them is refused, and every acknowledged
/// plant stays.
#[test]
fn restore_beside_a_starting_server_loses_no_acknowledged_plant() {
    let scene = Scene::new();
    let mut refusals = 0;
    for _ in 0..amount(10, 500) {
        let folder = TempDir::new().expect("a temporary folder");
        let mut serve = binary_in(folder.path());
        serve.arg("serve").stderr(Stdio::null());
        let (server, restored) = thread::scope(|scope| {
            let serving = scope.spawn(|| Launched::start(&mut serve));
            let restore = scene.command(folder.path(), &scene.tokens_of_backup()).output();
            (serving.join().expect("no panic"), restore.expect("the binary starts"))
        });
        let first_request = server.as_ref().ok().and_then(|server| server.first_request.clone());
        let (Ok(server), Some(first_request)) = (server, first_request) else {
            // The server was refused, or has started on the restored store.
            assert!(restored.status.success(), "one of them succeeds: {}", stderr_of(&restored));
            assert_eq!(contents(folder.path()), Ok(expected(&[1], &["first", "revoked"])));
            continue;
        };
        refusals += 1;
        assert!(!restored.status.success(), "a server is running");
        let token = bearer(token(&first_request).expect("a token"));
        let body = plant(7, "Fern", None);
        let mut connection = plant_store_tests::Connection::open(server.address);
        connection.exchange(&post(&token, body.as_bytes())).plant();
        drop(server);
        assert_eq!(contents(folder.path()), Ok(expected(&[7], &["first"])));
    }
    println!("{refusals} restores were refused");
}

/// SQLite's lock orders the two transactions, and a restore does not touch the tokens.
#[test]
fn token_revoked_during_a_restore_stays_revoked() {
    let scene = Scene::new();
    for _ in 0..amount(3, 500) {
        let folder = scene.store();
        thread::scope(|scope| {
            scope.spawn(|| scene.restored(folder.path(), &[]));
            let revoked = run(folder.path(), &["token", "revoke", "new"]);
            assert!(revoked.status.success(), "{}", stderr_of(&revoked));
        });
        assert_eq!(contents(folder.path()), Ok(expected(&[1], &["first"])));
    }
}

#[test]
fn restore_of_an_unsound_backup_changes_nothing() {
    let scene = Scene::new();
    let before = contents(scene.folder());
    let sound = fs::read(&scene.backup).expect("the backup");
    for (bytes, expected) in [
        (b"not a store".to_vec(), "is not a store"),
        (sound[..sound.len() - 4096].to_vec(), "cannot read the backup: "),
        ([&sound[..100], &vec![0xff; sound.len() - 100]].concat(), "cannot read the backup: "),
    ] {
        fs::write(&scene.backup, bytes).expect("a file");
        let stderr = scene.refused(scene.folder(), &[]);
        assert!(stderr.contains(expected) && stderr.contains(BACKUP), "{stderr}");
        assert_eq!(contents(scene.folder()), before);
    }
    fs::remove_file(&scene.backup).expect("a file");
    scene.refused(scene.folder(), &[]);
    assert_eq!(contents(scene.folder()), before);
}

#[test]
fn restore_of_a_store_from_itself_is_refused() {
    let Scene { stopped, token, .. } = Scene::new();
    let scene = Scene { backup: stopped.folder().join(STORE), stopped, token };
    let stderr = scene.refused(scene.folder(), &[]);
    assert!(stderr.contains("it is the store that is being restored"), "{stderr}");
    assert_eq!(contents(scene.folder()), Ok(expected(&[1, 2], &["first", "new"])));
}

/// The server of the backup file was killed, so some of its plants and tokens are in the WAL. The
/// restore changes neither file.
#[test]
fn restore_reads_a_backup_together_with_its_wal() {
    let scene = Scene::new();
    let crashed = scene.store();
    let before = files(crashed.path());
    assert!(before.contains_key(WAL));
    let to = TempDir::new().expect("a temporary folder");
    let file = crashed.path().join(STORE).display().to_string();
    let restored =
        run(to.path(), &["restore", &file, "--store", "sqlite:new.db", "--tokens-of", &file]);
    assert!(restored.status.success(), "{}", stderr_of(&restored));
    let printed = String::from_utf8(restored.stdout).expect("text");
    assert!(printed.contains("now: 2.") && printed.contains(": first, new.\n"));
    let after = files(crashed.path());
    for name in [STORE, WAL] {
        assert!(after[name] == before[name], "{name}");
    }
}

/// A restore into the damaged store is refused. After the store was moved away, `--tokens-of` can
/// read its tokens.
#[test]
fn damaged_store_can_still_provide_its_tokens() {
    let scene = Scene::new();
    let folder = large_store();
    let file = folder.path().join(STORE);
    let mut bytes = fs::read(&file).expect("the store");
    let middle = bytes.len() / 2;
    bytes[middle..middle + 8192].fill(0);
    fs::write(&file, &bytes).expect("the store");
    let refused = scene.refused(folder.path(), &[]);
    assert!(refused.contains("move its files away"), "{refused}");
    assert!(fs::read(&file).expect("the store") == bytes, "the file is unchanged");
    assert_eq!(files(folder.path()).len(), 1, "no other file is left");
    let away = folder.path().join("damaged.db");
    fs::rename(&file, &away).expect("the file moves");
    scene.restored(folder.path(), &["--tokens-of", away.to_str().expect("text")]);
    assert_eq!(contents(folder.path()), Ok(expected(&[1], &["first"])));
}

/// A limit on the file size simulates the full disk.
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
    assert_eq!(output.status.code(), Some(1), "{}", stderr_of(&output));
    assert_eq!(contents(scene.folder()), before);
}

/// After each kill the same restore succeeds.
#[test]
fn killed_restore_leaves_the_old_or_the_new_plants() {
    let scene = Scene::new();
    let store = scene.store();
    let old = Ok(expected(&[1, 2], &["first", "new"]));
    let new = Ok(expected(&[1], &["first", "new"]));
    kill_before_each_call(
        || copy_of(store.path()),
        |folder| scene.command(folder, &[]),
        |folder| {
            // Read from a copy, because reading may change the files.
            let found = contents(copy_of(folder).path());
            assert!(found == old || found == new, "{found:?}");
            scene.restored(folder, &[]);
            assert_eq!(contents(folder), new);
        },
    );
}

/// The store is large enough for a kill in the middle of the transaction.
#[test]
fn restore_killed_at_a_random_moment_leaves_old_or_new_plants() {
    let store = large_store();
    let backup = large_store();
    let half = Connection::open(backup.path().join(STORE)).expect("the backup opens");
    half.execute_batch("DELETE FROM plants WHERE id % 2 = 0").expect("half of the plants");
    drop(half);
    let backup = backup.path().join(STORE);
    let restore = |folder: &Path| {
        let mut command = binary_in(folder);
        command.arg("restore").arg(&backup).args(["--store", "sqlite:plant-store.db"]);
        command.stdout(Stdio::null());
        command
    };
    let mut old = 0;
    let rounds = amount(5, 500);
    for _ in 0..rounds {
        let folder = copy_of(store.path());
        let mut restoring = restore(folder.path()).spawn().expect("the binary starts");
        // The sleep is the random moment; it waits for no event.
        thread::sleep(Duration::from_micros(rand::random_range(0..120_000)));
        restoring.kill().expect("the process is ours");
        restoring.wait().expect("the process can be waited for");
        let (ids, tokens) = contents(folder.path()).expect("a store");
        let is_old = ids.iter().copied().eq(0..MANY);
        assert!(is_old || ids.iter().copied().eq((1..MANY).step_by(2)), "{} plants", ids.len());
        assert_eq!(tokens, ["first"]);
        assert_eq!(run(folder.path(), &["check"]).status.code(), Some(0));
        old += usize::from(is_old);
        assert!(restore(folder.path()).status().expect("the binary starts").success());
        assert_eq!(contents(folder.path()).expect("a store").0.len(), 10_000);
    }
    println!("{rounds} kills, {old} before the commit");
}

#[test]
fn killed_restore_into_a_new_store_can_be_run_again() {
    let scene = Scene::new();
    let flags = scene.tokens_of_backup();
    let new = Ok(expected(&[1], &["first", "revoked"]));
    kill_before_each_call(
        || TempDir::new().expect("a temporary folder"),
        |folder| scene.command(folder, &flags),
        |folder| {
            let found = contents(copy_of(folder).path());
            // An empty store would look sound, and a server would start on it.
            assert!(found.is_err() || found == new, "{found:?}");
            scene.restored(folder, &flags);
            assert_eq!(contents(folder), new);
        },
    );
}
