//! `plant-store restore`: the plants of a backup in the place of a store's own.

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
use crate::operators::killed::before_each_call;
use crate::operators::{copy_of, create, files};
use crate::sqlite::damage::{MANY, many};

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

    /// Runs the command, which must fail. Returns what it says.
    fn refused(&self, folder: &Path, flags: &[&str]) -> String {
        let (status, said) = failure(&mut self.command(folder, flags));
        assert_eq!(status, Some(1), "{said}");
        said
    }

    /// The flag that takes the tokens of the backup.
    fn tokens_of_backup(&self) -> [&str; 2] {
        ["--tokens-of", self.backup.to_str().expect("text")]
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

#[test]
fn restore_replaces_the_plants_and_keeps_the_tokens() {
    let scene = Scene::new();
    let said = scene.restored(scene.folder(), &[]);
    assert!(said.contains(" has the 1 plants of "), "{said}");
    assert!(said.contains("It had 2, of which 1 are not in the backup."), "{said}");
    assert_eq!(contents(scene.folder()), Ok(is(&[1], &["first", "new"])));
    let again = scene.restored(scene.folder(), &[]);
    assert!(again.contains("It had 1, of which 0 are not in the backup."), "{again}");
    assert_eq!(contents(scene.folder()), Ok(is(&[1], &["first", "new"])));
    let Scene { stopped, token, .. } = scene;
    let server = stopped.start();
    server.create_with(&bearer(&token), &plant(3, "Fern", None)).plant();
}

/// A different plant of the same id goes, too.
#[test]
fn restore_counts_a_plant_that_the_backup_has_differently() {
    let scene = Scene::new();
    let server = Server::start();
    server.create(&plant(1, "Fern", None)).plant();
    let stopped = server.stopped_by(Signal::SIGTERM);
    let said = scene.restored(stopped.folder(), &[]);
    assert!(said.contains("It had 1, of which 1 are not in the backup."), "{said}");
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
fn tokens_of_a_named_file_replace_those_of_the_store() {
    let scene = Scene::new();
    let said = scene.restored(scene.folder(), &scene.tokens_of_backup());
    assert!(said.contains("Its tokens are those of ") && said.contains(": first, revoked.\n"));
    assert_eq!(contents(scene.folder()), Ok(is(&[1], &["first", "revoked"])));
}

/// Otherwise nobody would know which tokens are valid, or the disk of the store is not mounted.
#[test]
fn restore_into_an_empty_place_needs_a_file_for_the_tokens() {
    let scene = Scene::new();
    let lost = TempDir::new().expect("a temporary folder");
    let said = scene.refused(lost.path(), &[]);
    assert!(said.contains("there is no store at"), "{said}");
    assert!(said.contains("--tokens-of"), "{said}");
    assert!(files(lost.path()).is_empty());
    for _ in 0..2 {
        scene.restored(lost.path(), &scene.tokens_of_backup());
        assert_eq!(contents(lost.path()), Ok(is(&[1], &["first", "revoked"])));
        assert!(files(lost.path()).into_keys().eq([STORE]));
    }
    let mut elsewhere = binary_in(scene.folder());
    elsewhere.args(["restore", BACKUP, "--store", "sqlite:disk/x.db", "--tokens-of", BACKUP]);
    let (_, said) = failure(&mut elsewhere);
    assert!(said.contains("disk; is its disk mounted?"), "{said}");
}

#[test]
fn restore_beside_a_running_server_is_refused() {
    let Scene { stopped, backup, token } = Scene::new();
    let server = stopped.start();
    let scene = Scene { stopped: Server::starting(), backup, token };
    for flags in [&[][..], &scene.tokens_of_backup()] {
        let said = scene.refused(server.folder(), flags);
        assert!(said.contains("is in use by another process"), "{said}");
    }
    assert_eq!(contents(server.folder()), Ok(is(&[1, 2], &["first", "new"])));
}

/// Both begin at once in an empty place: one of them is refused, and what was answered stays.
#[test]
fn restore_beside_a_server_that_starts_loses_no_answered_plant() {
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
            // The server was refused, or has started on what was restored.
            assert!(restored.status.success(), "one of them succeeds: {}", said(&restored));
            assert_eq!(contents(folder.path()), Ok(is(&[1], &["first", "revoked"])));
            continue;
        };
        refusals += 1;
        assert!(!restored.status.success(), "a server runs");
        let token = bearer(token(&first_request).expect("a token"));
        let body = plant(7, "Fern", None);
        let mut connection = plant_store_tests::Connection::open(server.address);
        connection.exchange(&post(&token, body.as_bytes())).plant();
        drop(server);
        assert_eq!(contents(folder.path()), Ok(is(&[7], &["first"])));
    }
    println!("{refusals} restores were refused");
}

/// SQLite's lock orders the two transactions, and a restore does not touch the tokens.
#[test]
fn token_that_is_revoked_beside_a_restore_stays_revoked() {
    let scene = Scene::new();
    for _ in 0..amount(3, 500) {
        let folder = scene.store();
        thread::scope(|scope| {
            scope.spawn(|| scene.restored(folder.path(), &[]));
            let revoked = run(folder.path(), &["token", "revoke", "new"]);
            assert!(revoked.status.success(), "{}", said(&revoked));
        });
        assert_eq!(contents(folder.path()), Ok(is(&[1], &["first"])));
    }
}

#[test]
fn restore_of_what_is_no_sound_backup_changes_nothing() {
    let scene = Scene::new();
    let before = contents(scene.folder());
    let sound = fs::read(&scene.backup).expect("the backup");
    for (bytes, expected) in [
        (b"somebody's".to_vec(), "is not a store"),
        (sound[..sound.len() - 4096].to_vec(), "cannot read the backup: "),
        ([&sound[..100], &vec![0xff; sound.len() - 100]].concat(), "cannot read the backup: "),
    ] {
        fs::write(&scene.backup, bytes).expect("a file");
        let said = scene.refused(scene.folder(), &[]);
        assert!(said.contains(expected) && said.contains(BACKUP), "{said}");
        assert_eq!(contents(scene.folder()), before);
    }
    fs::remove_file(&scene.backup).expect("a file");
    scene.refused(scene.folder(), &[]);
    assert_eq!(contents(scene.folder()), before);
}

#[test]
fn store_is_no_backup_of_itself() {
    let Scene { stopped, token, .. } = Scene::new();
    let scene = Scene { backup: stopped.folder().join(STORE), stopped, token };
    let said = scene.refused(scene.folder(), &[]);
    assert!(said.contains("it is the store that is being restored"), "{said}");
    assert_eq!(contents(scene.folder()), Ok(is(&[1, 2], &["first", "new"])));
}

/// The WAL of a server that was killed belongs to the plants and tokens of that file.
#[test]
fn files_with_a_wal_are_read_with_it_and_stay_as_they_are() {
    let scene = Scene::new();
    let crashed = scene.store();
    let before = files(crashed.path());
    assert!(before.contains_key(WAL));
    let to = TempDir::new().expect("a temporary folder");
    let file = crashed.path().join(STORE).display().to_string();
    let restored =
        run(to.path(), &["restore", &file, "--store", "sqlite:new.db", "--tokens-of", &file]);
    assert!(restored.status.success(), "{}", said(&restored));
    let printed = String::from_utf8(restored.stdout).expect("text");
    assert!(printed.contains("has the 2 plants") && printed.contains(": first, new.\n"));
    let after = files(crashed.path());
    for name in [STORE, WAL] {
        assert!(after[name] == before[name], "{name}");
    }
}

#[test]
fn damaged_store_is_refused_and_may_still_give_its_tokens() {
    let scene = Scene::new();
    let folder = many();
    let file = folder.path().join(STORE);
    let mut bytes = fs::read(&file).expect("the store");
    let middle = bytes.len() / 2;
    bytes[middle..middle + 8192].fill(0);
    fs::write(&file, &bytes).expect("the store");
    let refused = scene.refused(folder.path(), &[]);
    assert!(refused.contains("move its files away"), "{refused}");
    assert!(fs::read(&file).expect("the store") == bytes, "it is as it was");
    assert_eq!(files(folder.path()).len(), 1, "and nothing is left beside it");
    let away = folder.path().join("damaged.db");
    fs::rename(&file, &away).expect("the file moves");
    scene.restored(folder.path(), &["--tokens-of", away.to_str().expect("text")]);
    assert_eq!(contents(folder.path()), Ok(is(&[1], &["first"])));
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
}

/// After each kill the store is the old one or the new one, and the same restore succeeds.
#[test]
fn restore_that_is_killed_at_any_call_leaves_the_old_or_the_new_plants() {
    let scene = Scene::new();
    let store = scene.store();
    let old = Ok(is(&[1, 2], &["first", "new"]));
    let new = Ok(is(&[1], &["first", "new"]));
    before_each_call(
        || copy_of(store.path()),
        |folder| scene.command(folder, &[]),
        |folder| {
            // A look must not change what comes next.
            let found = contents(copy_of(folder).path());
            assert!(found == old || found == new, "{found:?}");
            scene.restored(folder, &[]);
            assert_eq!(contents(folder), new);
        },
    );
}

/// The store is large enough for a kill in the midst of the transaction.
#[test]
fn restore_that_is_killed_at_a_random_moment_leaves_the_old_or_the_new_plants() {
    let store = many();
    let backup = many();
    let half = Connection::open(backup.path().join(STORE)).expect("the backup opens");
    half.execute_batch("DELETE FROM plants WHERE id % 2 = 0").expect("it has half of the plants");
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
        // The random moment itself: nothing is waited for.
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
fn restore_into_an_empty_place_that_is_killed_at_any_call_can_be_run_again() {
    let scene = Scene::new();
    let flags = scene.tokens_of_backup();
    let new = Ok(is(&[1], &["first", "revoked"]));
    before_each_call(
        || TempDir::new().expect("a temporary folder"),
        |folder| scene.command(folder, &flags),
        |folder| {
            let found = contents(copy_of(folder).path());
            // A store that serves nothing yet, as a start makes it.
            let is_empty = found == Ok(is(&[], &[])) || found.is_err();
            assert!(is_empty || found == new, "{found:?}");
            scene.restored(folder, &flags);
            assert_eq!(contents(folder), new);
        },
    );
}
