//! Which files are stores. Any other file is refused and never changed.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use nix::sys::signal::Signal;
use nix::unistd::geteuid;
use plant_store_tests::{Launched, Server, binary_in, failure, plant, run};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::database::{STORE, WAL};

const COMMANDS: [&str; 5] =
    ["serve --listen 127.0.0.1:0", "export", "token list", "token create x", "token revoke x"];

/// Returns every name in the folder, with its content if it is a file.
fn contents(folder: &Path) -> BTreeMap<String, Option<Vec<u8>>> {
    let mut contents = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("the folder exists") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().into_string().expect("text");
        contents.insert(name, fs::read(entry.path()).ok());
    }
    contents
}

/// Asserts that every command refuses the store with one line, and changes nothing in the folder.
fn assert_left_alone(folder: &Path, store: &str, expected: &str) {
    let before = contents(folder);
    for words in COMMANDS {
        let mut command = binary_in(folder);
        let (status, stderr) = failure(command.args(words.split(' ')).args(["--store", store]));
        assert_eq!(status, Some(1), "{words}");
        assert!(stderr.contains(expected), "{words}: {stderr}");
        assert!(contents(folder) == before, "{words} changes {:?}", contents(folder).keys());
    }
}

#[test]
fn file_that_is_not_a_store_is_refused_and_left_unchanged() {
    let header = b"SQLite format 3\0".as_slice();
    let tables = "CREATE TABLE plants (id INTEGER PRIMARY KEY); CREATE TABLE tokens (name TEXT);";
    let folder = TempDir::new().expect("a temporary folder");
    let file = folder.path().join("plants.db");
    let refuse = || assert_left_alone(folder.path(), "sqlite:plants.db", "is not a store");
    for bytes in [b"plants\n".as_slice(), &[0; 4096], &[header, &[0xff; 9000]].concat()] {
        fs::write(&file, bytes).expect("a file");
        refuse();
    }
    for pragma in ["user_version = 1", "journal_mode = wal"] {
        fs::remove_file(&file).expect("the file exists");
        let connection = Connection::open(&file).expect("a database");
        let statements = format!("PRAGMA {pragma}; {tables}");
        connection.execute_batch(&statements).expect("the database is created");
        refuse();
        // Once more after the connection is closed, because closing removes a WAL.
        drop(connection);
        refuse();
    }
}

/// A first start that is killed before its first write leaves an empty file. It may also be all that
/// is left of a store, so no start makes a new store of it.
#[test]
fn empty_file_is_refused_until_it_is_removed() {
    let folder = TempDir::new().expect("a temporary folder");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-o", "/dev/null", "-e", "inject=pwrite64:signal=KILL"]);
    strace.arg(binary_in(folder.path()).get_program()).args(["serve", "--listen", "127.0.0.1:0"]);
    strace.current_dir(folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
    assert!(!strace.status().expect("there is strace").success());
    let store = folder.path().join(STORE);
    assert_eq!(fs::metadata(&store).expect("a file").len(), 0);
    for left in ["-wal", "-shm", "-journal"] {
        let _ = fs::remove_file(folder.path().join(format!("{STORE}{left}")));
    }
    let before = contents(folder.path());
    for words in ["serve", "serve --no-create", "export", "token list", "token create x", "check"] {
        let (_, stderr) = failure(binary_in(folder.path()).args(words.split(' ')));
        assert!(stderr.contains("is empty (0 bytes)"), "{words}: {stderr}");
        assert!(contents(folder.path()) == before, "{words}");
    }
    fs::remove_file(store).expect("the file");
    let server = Server::starting_in(folder.into()).start();
    server.create(&plant(1, "Ficus", None)).plant();
}

/// SQLite would delete the WAL of the lost store.
#[test]
fn empty_file_beside_a_wal_is_refused() {
    let server = Server::start();
    server.create(&plant(1, "Ficus", None)).plant();
    let stopped = server.stopped_by(Signal::SIGKILL);
    let folder = stopped.folder();
    fs::rename(folder.join(STORE), folder.join("kept.db")).expect("the file moves");
    fs::write(folder.join(STORE), "").expect("a file");
    assert_left_alone(folder, "sqlite:plant-store.db", "but there are files of a store");
    fs::rename(folder.join("kept.db"), folder.join(STORE)).expect("the file moves back");
    assert!(stopped.start().export().into_keys().eq([1]));
}

/// A server on one name and a command on the other name would use two different WALs.
#[test]
fn store_with_a_second_name_is_refused_by_every_command() {
    let server = Server::start();
    server.create(&plant(1, "Ficus", None)).plant();
    let folder = server.folder().to_owned();
    fs::hard_link(folder.join(STORE), folder.join("second.db")).expect("a link");
    for name in ["second.db", STORE] {
        let url = format!("sqlite:{name}");
        for words in COMMANDS.iter().chain(&["check"]) {
            let mut command = binary_in(&folder);
            let (status, stderr) = failure(command.args(words.split(' ')).args(["--store", &url]));
            assert!(matches!(status, Some(1 | 2)), "{words}");
            let is_named =
                stderr.contains("has a second name") || stderr.contains("in use by another");
            assert!(is_named, "{words} {name}: {stderr}");
        }
    }
    fs::remove_file(folder.join("second.db")).expect("the link is removed");
    assert_eq!(server.export().len(), 1);
}

/// `docker run -v FILE:FILE` mounts a file like this. Only root can mount.
#[test]
fn store_file_mounted_by_itself_is_refused() {
    if !geteuid().is_root() {
        println!("skipped, because only root can mount a file");
        return;
    }
    let server = Server::start();
    server.create(&plant(1, "Ficus", None)).plant();
    let elsewhere = TempDir::new().expect("a temporary folder");
    let mounted = elsewhere.path().join(STORE);
    fs::write(&mounted, "").expect("a file");
    let files = [&server.folder().join(STORE), &mounted];
    let bound = Command::new("mount").arg("--bind").args(files).status();
    if !bound.is_ok_and(|status| status.success()) {
        println!("skipped, because this machine does not let us mount");
        return;
    }
    let revoked = run(elsewhere.path(), &["token", "revoke", "first"]);
    let unmounted = Command::new("umount").arg(&mounted).status();
    assert!(unmounted.expect("there is umount").success());
    let stderr = String::from_utf8_lossy(&revoked.stderr);
    assert!(!revoked.status.success() && stderr.contains("is mounted by itself"), "{stderr}");
    assert_eq!(server.export().len(), 1);
}

/// Nothing is created, either.
#[test]
fn path_that_is_not_a_file_is_refused() {
    let folder = TempDir::new().expect("a temporary folder");
    fs::create_dir(folder.path().join("folder")).expect("a folder");
    std::os::unix::fs::symlink("nowhere", folder.path().join("link")).expect("a link");
    assert_left_alone(
        folder.path(),
        "sqlite:folder",
        "folder is a folder or a device; name a file",
    );
    assert_left_alone(folder.path(), "sqlite:link", "link is a symbolic link to a missing file");
    let before = contents(folder.path());
    let mut serve = binary_in(folder.path());
    let (status, stderr) = failure(serve.args(["serve", "--store", "sqlite:no/plants.db"]));
    assert_eq!(status, Some(1));
    assert!(stderr.contains("cannot create the store: there is no folder no"), "{stderr}");
    assert!(contents(folder.path()) == before);
}

/// Most of these names have a special meaning in a shell, in a URI or for SQLite. An absolute path
/// may begin with several slashes.
#[test]
fn store_path_is_taken_literally() {
    let elsewhere = TempDir::new().expect("a temporary folder");
    let slashes = format!("//{}", elsewhere.path().join("plants.db").display());
    for name in
        ["with space.db", "%41.db#1", "file:plants.db", "-store", "sqlite:ünïcode🌱", &slashes]
    {
        let url = format!("sqlite:{name}");
        let server = Server::starting().with(&["--store", &url]).start();
        server.create(&plant(1, name, None)).plant();
        assert!(server.folder().join(name).exists(), "{name}");
        let mut files = contents(server.folder()).into_keys();
        assert!(files.all(|file| file == "log" || file.starts_with(name)), "{name}");
        let server = server.stopped_by(Signal::SIGKILL).with(&["--store", &url]).start();
        assert_eq!(server.command(&["export", "--store", &url]).lines().count(), 1, "{name}");
    }
}

/// The server runs in `/proc`, where no file can be created.
#[test]
fn new_store_needs_no_access_to_the_working_directory() {
    let folder = TempDir::new().expect("a temporary folder");
    let url = format!("sqlite:{}", folder.path().join("plants.db").display());
    let server = Server::starting()
        .command(|command| {
            command.current_dir("/proc");
        })
        .with(&["--store", &url])
        .start();
    server.create(&plant(1, "Ficus", None)).plant();
}

/// Only root can change the owner of a file. For other users the owner is the same anyway.
#[test]
fn store_created_by_root_gets_the_owner_of_its_folder() {
    let server = Server::start();
    let folder = TempDir::new().expect("a temporary folder");
    if geteuid().is_root() {
        chown(folder.path(), Some(7), Some(8)).expect("root may change the owner");
    }
    let copy = folder.path().join(STORE);
    let to = format!("sqlite:{}", copy.display());
    server.command(&["copy", "--from", server.store(), "--to", &to, "--tokens", "none"]);
    let store = fs::metadata(&copy).expect("a store");
    assert_eq!(store.uid(), fs::metadata(folder.path()).expect("a folder").uid());
    assert!(!geteuid().is_root() || (store.uid(), store.gid()) == (7, 8));
}

/// The WAL must not be created beside the link.
#[test]
fn store_behind_a_symbolic_link_uses_the_wal_beside_the_file() {
    let server = Server::start();
    server.create(&plant(1, "Ficus", None)).plant();
    let stopped = server.stopped_by(Signal::SIGKILL);
    let elsewhere = stopped.folder().join("elsewhere");
    fs::create_dir(&elsewhere).expect("a folder");
    for name in [STORE, WAL] {
        fs::rename(stopped.folder().join(name), elsewhere.join(name)).expect("the file moves");
    }
    std::os::unix::fs::symlink(elsewhere.join(STORE), stopped.folder().join(STORE))
        .expect("a link");

    let server = stopped.start();
    server.create(&plant(2, "Fern", None)).plant();
    assert!(server.export().into_keys().eq([1, 2]));
    assert!(!server.folder().join(WAL).exists());
}

/// The server that creates the store serves it; the others are refused.
#[test]
fn only_one_of_several_starting_servers_serves() {
    let folder = TempDir::new().expect("a temporary folder");
    let start = || Launched::start(binary_in(folder.path()).arg("serve").stderr(Stdio::null()));
    let mut serving: Vec<_> = thread::scope(|scope| {
        let starting: Vec<_> = (0..8).map(|_| scope.spawn(start)).collect();
        let started = starting.into_iter().map(|server| server.join().expect("it was started"));
        started.filter_map(Result::ok).collect()
    });
    let [server] = &mut serving[..] else { panic!("{} servers serve", serving.len()) };
    let (status, stderr) = failure(binary_in(folder.path()).arg("serve"));
    assert_eq!(status, Some(1));
    assert!(stderr.contains("sqlite:plant-store.db is in use by another process"), "{stderr}");
    let listed = run(folder.path(), &["token", "list", "--json"]).stdout;
    let tokens: Vec<serde_json::Value> = serde_json::from_slice(&listed).expect("an array");
    assert_eq!(tokens.len(), 1);

    server.process.kill().expect("the process is ours");
    server.process.wait().expect("the process can be waited for");
    let mut next = start().expect("the lock has ended with its process");
    next.process.kill().expect("the process is ours");
}
