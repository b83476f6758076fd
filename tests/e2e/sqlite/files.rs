//! Which files are stores, and under which names. Every command refuses any other file, and no
//! command changes it or creates a store beside orphaned files: the new store would get plants and
//! tokens of another store.

use std::os::unix::fs::{FileExt, MetadataExt, chown, symlink};

use nix::unistd::geteuid;
use plant_store_tests::prelude::*;
use rusqlite::Connection;

use crate::database::{STORE, WAL};
use crate::operators::{Prepare, files};
use crate::without_store::starts::failed_first_start;

const COMMANDS: [&str; 7] = [
    "serve",
    "serve --no-create",
    "export",
    "token list",
    "token create x",
    "token revoke x",
    "check",
];

/// Asserts that the commands refuse the store with a line that contains these texts, and change
/// nothing in the folder.
fn assert_refused(folder: &Path, store: &str, commands: &[&str], expected: &[&str]) {
    let before = files(folder);
    let run = |words: &str| {
        let store = ["--store", &format!("sqlite:{store}")].map(str::to_owned);
        run(binary_in(folder).args(words.split(' ')).args(store))
    };
    for words in commands {
        let refused = run(words);
        for text in expected {
            refused.failed(if *words == "check" { 2 } else { 1 }, text);
        }
        assert!(files(folder) == before, "{words} changes {:?}", files(folder).keys());
    }
    if commands.contains(&"check") {
        let checked = run("check --json");
        assert_eq!(checked.code, Some(2));
        let report: Value = serde_json::from_str(&checked.stdout).expect("JSON");
        assert_eq!(report["sound"], Value::Null, "{report}");
        assert!(report["faults"][0].as_str().expect("text").contains(expected[0]), "{report}");
    }
}

/// Creates a database of another program in WAL mode.
fn other_database(file: &Path) -> Connection {
    let connection = Connection::open(file).expect("a database");
    let tables = "PRAGMA user_version = 1; PRAGMA journal_mode = wal;
        CREATE TABLE plants (id INTEGER PRIMARY KEY); CREATE TABLE tokens (name TEXT);";
    connection.execute_batch(tables).expect("tables");
    connection
}

fn store_of_a_newer_version(file: &Path) {
    let stopped = Server::start().stopped_by(Signal::SIGTERM);
    fs::copy(stopped.folder().join(STORE), file).expect("a copy");
    let store = File::options().write(true).open(file).expect("the store");
    // The last byte of `application_id` is twice the layout version.
    store.write_all_at(&[2 << 1], 71).expect("the header");
}

fn write(file: &Path, bytes: &[u8]) {
    fs::write(file, bytes).expect("a file");
}

fn orphan(file: &Path, suffix: &str) {
    write(Path::new(&format!("{}{suffix}", file.display())), b"orphaned");
}

fn two_names(file: &Path) {
    drop(other_database(file));
    fs::hard_link(file, file.with_extension("other")).expect("a link");
}

#[test]
fn path_that_is_not_a_store_is_refused_and_left_unchanged() {
    let rows: [(&str, Prepare, &[&str]); 14] = [
        ("text", |file| write(file, b"plants\n"), &["is not a store"]),
        ("zeros", |file| write(file, &[0; 4096]), &["is not a store"]),
        (
            "header",
            |file| write(file, &[b"SQLite format 3\0".as_slice(), &[0xff; 9000]].concat()),
            &["is not a store"],
        ),
        ("database", |file| drop(other_database(file)), &["is not a store"]),
        // It keeps its WAL.
        ("open database", |file| std::mem::forget(other_database(file)), &["is not a store"]),
        ("newer store", store_of_a_newer_version, &["has layout version 2, but"]),
        ("empty file", |file| write(file, b""), &["is empty (0 bytes)"]),
        ("folder", |file| fs::create_dir(file).expect("a folder"), &["is a folder or a device"]),
        ("link", |file| symlink("nowhere", file).expect("a link"), &["link to a missing file"]),
        (
            "orphaned WAL",
            |file| orphan(file, "-wal"),
            &["no store at", "plants.db-wal", "move them away"],
        ),
        (
            "orphaned index",
            |file| orphan(file, "-shm"),
            &["no store at", "plants.db-shm", "move them away"],
        ),
        (
            "orphaned journal",
            |file| orphan(file, "-journal"),
            &["plants.db-journal", "move them away"],
        ),
        (
            "dangling link of a WAL",
            |file| symlink("nowhere", format!("{}-wal", file.display())).expect("a link"),
            &["no store at", "plants.db-wal", "move them away"],
        ),
        ("two names", two_names, &["has a second name"]),
    ];
    each_row(rows, |(_, make, expected)| {
        let folder = TempDir::new().expect("a temporary folder");
        make(&folder.path().join("plants.db"));
        assert_refused(folder.path(), "plants.db", &COMMANDS, expected);
    });
    let folder = TempDir::new().expect("a temporary folder");
    assert_refused(folder.path(), "plants.db", &COMMANDS[1..], &["there is no store at"]);
    assert_refused(folder.path(), "no/plants.db", &COMMANDS[..1], &["there is no folder no"]);
}

/// SQLite would delete the WAL of the lost store beside an empty file. A server on one of two names
/// and a command on the other name would use two different WALs.
#[test]
fn crashed_store_is_refused_until_its_files_are_back() {
    let server = Server::start();
    server.create(&plant(1, "Ficus", None)).plant();
    let stopped = server.stopped_by(Signal::SIGKILL);
    let folder = stopped.folder();
    let [store, kept] = [STORE, "kept.db"].map(|name| folder.join(name));
    fs::rename(&store, &kept).expect("the file moves");
    assert_refused(folder, STORE, &COMMANDS, &["there is no store at", WAL, "move them away"]);
    fs::write(&store, "").expect("a file");
    assert_refused(folder, STORE, &COMMANDS, &["but there are files of a store"]);
    fs::rename(&kept, &store).expect("the file moves back");
    fs::hard_link(&store, &kept).expect("a link");
    for name in [STORE, "kept.db"] {
        assert_refused(folder, name, &COMMANDS, &["has a second name"]);
    }
    fs::remove_file(kept).expect("the link");
    assert!(stopped.start().export().into_keys().eq([1]));
}

/// `docker run -v FILE:FILE` mounts a file like this.
#[test]
fn store_file_mounted_by_itself_is_refused() {
    let server = Server::start();
    server.create(&plant(1, "Ficus", None)).plant();
    let elsewhere = TempDir::new().expect("a temporary folder");
    let mounted = elsewhere.path().join(STORE);
    fs::write(&mounted, "").expect("a file");
    let mut revoke = binary_in(elsewhere.path());
    revoke.args(["token", "revoke", "first"]);
    let script = format!(
        "mount --bind {} {} && exec \"$0\" \"$@\"",
        server.folder().join(STORE).display(),
        mounted.display()
    );
    // The mount exists only in the namespace of the command.
    let unshare = ["unshare", "--map-root-user", "--mount", "sh", "-c", &script];
    run(&mut behind(&unshare, &revoke)).failed(1, "is mounted by itself");
    assert_eq!(server.export().len(), 1);
}

/// Most of these names have a special meaning in a shell, in a URI or for SQLite. An absolute path
/// may begin with several slashes.
#[test]
fn store_path_is_taken_literally() {
    let elsewhere = TempDir::new().expect("a temporary folder");
    let slashes = format!("//{}", elsewhere.path().join("plants.db").display());
    let names =
        ["with space.db", "%41.db#1", "file:plants.db", "-store", "sqlite:ünïcode🌱", &slashes];
    each_row(names, |name| {
        let url = format!("sqlite:{name}");
        let server = Server::starting().with(&["--store", &url]).start();
        server.create(&plant(1, name, None)).plant();
        assert!(server.folder().join(name).exists());
        let mut files = files(server.folder()).into_keys();
        assert!(files.all(|file| file == "log" || file.starts_with(name)));
        let server = server.stopped_by(Signal::SIGKILL).with(&["--store", &url]).start();
        assert_eq!(server.command(&["export", "--store", &url]).lines().count(), 1);
    });
}

/// The server runs in `/proc`, where no file can be created.
#[test]
fn new_store_needs_no_access_to_the_working_directory() {
    let folder = TempDir::new().expect("a temporary folder");
    let url = format!("sqlite:{}", folder.path().join("plants.db").display());
    let starting = Server::starting().command(|command| {
        command.current_dir("/proc");
    });
    starting.with(&["--store", &url]).start().create(&plant(1, "Ficus", None)).plant();
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
    let [store, folder] = [&*copy, folder.path()].map(|path| fs::metadata(path).expect("a file"));
    assert_eq!((store.uid(), store.gid()), (folder.uid(), folder.gid()));
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
    symlink(elsewhere.join(STORE), stopped.folder().join(STORE)).expect("a link");
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
    let serving: Vec<_> = thread::scope(|scope| {
        let starting: Vec<_> = (0..8).map(|_| scope.spawn(start)).collect();
        let started = starting.into_iter().map(|server| server.join().expect("it was started"));
        started.filter_map(Result::ok).collect()
    });
    assert_eq!(serving.len(), 1);
    let command = |words: &str| run(binary_in(folder.path()).args(words.split(' ')));
    command("serve").failed(1, "sqlite:plant-store.db is in use by another process");
    let tokens: Vec<Value> =
        serde_json::from_str(&command("token list --json").succeeded()).expect("an array");
    assert_eq!(tokens.len(), 1);
    drop(serving);
    start().expect("the lock has ended with its process");
}

/// Kills first starts before each of their writes and syncs. strace counts the calls by thread.
#[test]
fn killed_first_start_leaves_no_store_without_a_token() {
    let mut stores = 0;
    for call in ["write", "pwrite64", "fdatasync", "fsync", "unlink"] {
        for count in 1.. {
            let folder = TempDir::new().expect("a temporary folder");
            let mut strace = Command::new("strace");
            // With -D the process that is started here is the server, and strace is its child.
            strace.args(["-D", "-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={call}")]);
            strace.args(["-e", &format!("inject={call}:signal=KILL:when={count}")]);
            strace.arg(binary_in(folder.path()).get_program()).arg("serve");
            strace.args(["--listen", "127.0.0.1:0", "--log-level", "error"]);
            match failed_first_start(&mut strace, folder.path()) {
                Some(has_store) => stores += usize::from(has_store),
                None => break,
            }
        }
    }
    assert!(stores > 0, "no start was killed after it had created the store");
}
