//! `plant-store copy`: what it copies, and that a new file is complete or not there, whatever
//! interrupts the copy.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use plant_store_tests::{
    Server, Starting, amount, bearer, binary_in, plant, run, store_of, without_own_variables,
};
use tempfile::TempDir;

use super::killed::kill_before_each_call;
use super::{create, files, names};
use crate::database::STORE;

/// Returns the URL of a store in that file.
fn url(file: &Path) -> String {
    format!("sqlite:{}", file.display())
}

/// Copies the store of that folder.
fn copy(folder: &Path, to: &str, tokens: &str) -> Output {
    run(folder, &["copy", "--from", &store_of(folder), "--to", to, "--tokens", tokens])
}

/// Copies the store of that folder with its tokens, which must succeed. Returns stdout.
fn copy_succeeds(folder: &Path, to: &str) -> String {
    succeeds(&copy(folder, to, "from"))
}

fn succeeds(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn copy_contains_every_plant_and_token() {
    let server = Server::start();
    create(&server, 0..2000);
    server.create(r#"{"id":-1,"name":"\u0000","tag":""}"#).plant();
    let ci = server.command(&["token", "create", "ci"]).trim_end().to_owned();
    let folder = TempDir::new().expect("a temporary folder");
    let file = folder.path().join(STORE);
    let stdout = copy_succeeds(server.folder(), &url(&file));
    assert!(stdout.contains("; plants: 2001, tokens: 2, digest: "), "{stdout}");
    let named = stdout.contains("accepts the token ci\n") && stdout.contains("token first\n");
    assert!(named, "{stdout}");
    assert_eq!(files(folder.path()).into_keys().collect::<Vec<_>>(), [STORE], "no other file");
    assert_eq!(fs::metadata(&file).expect("the copy").permissions().mode() & 0o777, 0o600);

    let copied = Starting::on(folder, &ci).start();
    assert_eq!(copied.command(&["export"]), server.command(&["export"]));
    copied.create(&plant(3000, "Fern", None)).plant();
    // The copy is independent: a change of one store does not affect the other.
    assert_eq!(server.export().len(), 2001);
    server.create_with(&bearer(&ci), &plant(3001, "Fern", None)).plant();
}

/// A forgotten choice must not accept a token that was revoked.
#[test]
fn tokens_of_a_copy_are_those_that_the_command_names() {
    let server = Server::start();
    server.create(&plant(1, "Ficus", None)).plant();
    let folder = TempDir::new().expect("a temporary folder");
    let to = |name: &str| url(&folder.path().join(name));
    let unnamed = run(server.folder(), &["copy", "--from", server.store(), "--to", &to("x.db")]);
    assert_eq!(unnamed.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unnamed.stderr).contains("--tokens <from|none|URL>"));
    assert!(files(folder.path()).is_empty());

    let listed = |name: &str| server.command(&["token", "list", "--store", &to(name)]);
    succeeds(&copy(server.folder(), &to("none.db"), "none"));
    assert_eq!(listed("none.db").lines().count(), 1, "only the header");
    copy_succeeds(server.folder(), &to("backup.db"));
    server.command(&["token", "create", "new"]);
    server.command(&["token", "revoke", "first"]);
    let from_backup = ["copy", "--from", &to("backup.db"), "--to", &to("other.db"), "--tokens"];
    let stdout = server.command(&[&from_backup[..], &[server.store()]].concat());
    assert!(stdout.contains("accepts the token new\n"), "{stdout}");
    assert_eq!(listed("other.db"), server.command(&["token", "list"]));
}

#[test]
fn copy_to_a_taken_path_is_refused_and_changes_nothing() {
    let server = Server::start();
    create(&server, 0..3);
    let folder = TempDir::new().expect("a temporary folder");
    fs::write(folder.path().join("file.db"), "theirs").expect("a file");
    fs::write(folder.path().join("empty.db"), "").expect("a file");
    fs::create_dir(folder.path().join("folder.db")).expect("a folder");
    symlink("nowhere", folder.path().join("link.db")).expect("a link");
    for left in ["wal.db-wal", "shm.db-shm", "journal.db-journal"] {
        fs::write(folder.path().join(left), "theirs").expect("a file");
    }
    symlink("nowhere", folder.path().join("dangling.db-wal")).expect("a link");
    let before = names(folder.path(), "");
    for (name, expected) in [
        ("file.db", "something already exists at"),
        ("empty.db", "something already exists at"),
        ("folder.db", "something already exists at"),
        ("link.db", "something already exists at"),
        ("wal.db", "wal.db-wal"),
        ("shm.db", "shm.db-shm"),
        ("journal.db", "journal.db-journal"),
        ("dangling.db", "dangling.db-wal"),
        ("no/copy.db", "there is no folder"),
    ] {
        let output = copy(server.folder(), &url(&folder.path().join(name)), "from");
        assert_eq!(output.status.code(), Some(1), "{name}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains(expected), "{name}: {stderr}");
        assert_eq!(names(folder.path(), ""), before, "{name}");
        assert_eq!(fs::read(folder.path().join("file.db")).expect("the file"), b"theirs");
    }
}

/// A limit on the file size simulates the full disk.
#[test]
fn copy_onto_a_full_disk_leaves_nothing_at_its_path() {
    let server = Server::start();
    create(&server, 0..500);
    let folder = TempDir::new().expect("a temporary folder");
    let to = url(&folder.path().join(STORE));
    let script = format!(
        "trap '' XFSZ; ulimit -f 200 && exec '{}' copy --from '{}' --to {to} --tokens from",
        binary_in(folder.path()).get_program().display(),
        server.store(),
    );
    let mut command = Command::new("sh");
    without_own_variables(&mut command);
    let output = command.args(["-c", &script]).current_dir(server.folder()).output();
    let output = output.expect("there is a shell");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && stderr.contains("cannot write the copy"), "{stderr}");
    let left: Vec<_> = files(folder.path()).into_keys().collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A killed copy, and what it may leave.
struct Killed {
    server: Server,
    /// The plants of the source.
    exported: String,
}

impl Killed {
    fn new() -> Self {
        let server = Server::start();
        create(&server, 0..200);
        let exported = server.command(&["export"]);
        Self { server, exported }
    }

    fn command(&self, folder: &Path) -> Command {
        let from = match self.server.store().strip_prefix("sqlite:") {
            Some(file) => url(&self.server.folder().join(file)),
            None => self.server.store().to_owned(),
        };
        let mut command = binary_in(folder);
        command.args(["copy", "--from", &from, "--to", "sqlite:copy.db", "--tokens", "from"]);
        command.stdout(Stdio::null());
        command
    }

    /// Checks the folder after a kill: the copy is whole or not there, and the same command makes
    /// it. Returns whether it was there.
    fn check(&self, folder: &Path) -> bool {
        let is_there = folder.join("copy.db").exists();
        let others = names(folder, "").into_iter().filter(|name| name != "copy.db");
        for other in others {
            assert!(other.starts_with("copy.db.unfinished-copy-"), "{other}");
        }
        if !is_there {
            succeeds(&self.command(folder).output().expect("it runs"));
        }
        let read = run(folder, &["export", "--store", "sqlite:copy.db"]);
        assert!(String::from_utf8_lossy(&read.stdout) == self.exported, "the copy is incomplete");
        let tokens = run(folder, &["token", "list", "--store", "sqlite:copy.db"]);
        assert!(String::from_utf8_lossy(&tokens.stdout).contains("\nfirst "));
        assert!(self.server.command(&["export"]) == self.exported, "the source is unchanged");
        is_there
    }
}

#[test]
fn killed_copy_is_whole_or_not_there() {
    let killed = Killed::new();
    kill_before_each_call(
        || TempDir::new().expect("a temporary folder"),
        |folder| killed.command(folder),
        |folder| {
            killed.check(folder);
        },
    );
}

#[test]
fn copy_killed_at_a_random_moment_is_whole_or_not_there() {
    let killed = Killed::new();
    let rounds = amount(5, 300);
    let mut whole = 0;
    for _ in 0..rounds {
        let folder = TempDir::new().expect("a temporary folder");
        let mut copying = killed.command(folder.path()).spawn().expect("the binary starts");
        // The sleep is the random moment; it waits for no event.
        thread::sleep(Duration::from_micros(rand::random_range(0..150_000)));
        copying.kill().expect("the process is ours");
        copying.wait().expect("the process can be waited for");
        whole += usize::from(killed.check(folder.path()));
    }
    println!("{rounds} kills, {whole} after the copy was complete");
}
