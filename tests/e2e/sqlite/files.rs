//! Which files are stores, and under which names. Every command refuses any other file, and no
//! command changes it or creates a store beside orphaned files: the new store would get plants and
//! tokens of another store. A server whose files are gone exits.

use std::fs::Permissions;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, chown, symlink};

use nix::unistd::geteuid;
use plant_store_tests::has;
use plant_store_tests::prelude::*;
use plant_store_tests::process::{Paused, killed_before};
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::database::{self, Prepare, STORE, WAL, WAL_INDEX, create, files};
use crate::without_store::command_line::{tokens, unprivileged};

const COMMANDS: [&str; 6] =
    ["serve", "export", "token list", "token create x", "token revoke x", "check"];

/// Asserts that the commands refuse the store with a line that contains these texts, and change
/// nothing in the folder.
fn assert_refused(folder: &Path, store: &str, commands: &[&str], expected: &[&str]) {
    let before = files(folder);
    for words in commands {
        let refused = run(&mut binary_in(folder, &format!("{words} --store sqlite:{store}")));
        for text in expected {
            refused.failed(if *words == "check" { 2 } else { 1 }, text);
        }
        assert!(files(folder) == before, "{words} changes {:?}", files(folder).keys());
    }
}

/// A database of another program in WAL mode.
fn other_database(file: &Path) {
    let connection = Connection::open(file).expect("a database");
    let tables = "PRAGMA user_version = 1; PRAGMA journal_mode = wal;
        CREATE TABLE plants (id INTEGER PRIMARY KEY); CREATE TABLE tokens (name TEXT);";
    connection.execute_batch(tables).expect("tables");
    // It stays open, so that it keeps its WAL.
    std::mem::forget(connection);
}

fn store_of_a_newer_version(file: &Path) {
    let stopped = Server::start().stopped_by(Signal::SIGTERM);
    fs::copy(stopped.folder().join(STORE), file).expect("a copy");
    let store = File::options().write(true).open(file).expect("the store");
    // The last byte of `application_id` is the layout version.
    store.write_all_at(&[2], 71).expect("the header");
}

fn write(file: &Path, text: &str) {
    fs::write(file, text).expect("a file");
}

fn link(file: &Path) {
    symlink("nowhere", file).expect("a link");
}

#[test]
fn path_that_is_not_a_store_is_refused_and_left_unchanged() {
    let orphaned = ["no store at", "move them away"];
    let rows: [(&str, Prepare, &[&str]); 9] = [
        ("plants.db", |file| write(file, "plants\n"), &["is not a store"]),
        ("plants.db", other_database, &["is not a store"]),
        ("plants.db", store_of_a_newer_version, &["has layout version 2, but"]),
        ("plants.db", |file| write(file, ""), &["is empty (0 bytes)"]),
        ("plants.db", |file| fs::create_dir(file).expect("a folder"), &["is a folder or a device"]),
        ("plants.db", link, &["link to a missing file"]),
        ("plants.db-wal", link, &orphaned),
        ("plants.db-shm", |file| write(file, "index"), &orphaned),
        ("plants.db-journal", |file| write(file, "journal"), &orphaned),
    ];
    each_row(rows, |(name, make, expected)| {
        let folder = TempDir::new().expect("a temporary folder");
        make(&folder.path().join(name));
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
    assert_refused(folder, STORE, &COMMANDS, &["is empty (0 bytes)", "put the store back"]);
    fs::rename(&kept, &store).expect("the file moves back");
    fs::hard_link(&store, &kept).expect("a link");
    for name in [STORE, "kept.db"] {
        assert_refused(folder, name, &COMMANDS, &["has a second name"]);
    }
    fs::remove_file(kept).expect("the link");
    assert!(stopped.start().export().into_keys().eq([1]));
}

/// SQLite's readers, too, write to the WAL index.
#[test]
fn store_without_write_access_is_refused_and_left_unchanged() {
    let stopped = Server::start().stopped_by(Signal::SIGTERM);
    let folder = stopped.folder();
    let set_modes = |of_folder, of_file| {
        for (path, mode) in [(folder, of_folder), (&*folder.join(STORE), of_file)] {
            fs::set_permissions(path, Permissions::from_mode(mode)).expect("the test owns it");
        }
    };
    let before = files(folder);
    let rows =
        [(0o700, 0o400, "cannot read and write"), (0o500, 0o600, "cannot write to the folder")];
    each_row(rows, |(of_folder, of_file, expected)| {
        set_modes(of_folder, of_file);
        let run = |words: &str| run(&mut unprivileged(folder, words));
        let ended = COMMANDS.map(|words| (words, run(words)));
        set_modes(0o700, 0o600);
        for (words, refused) in ended {
            for text in [expected, "copy the file and its -wal file to another folder"] {
                refused.failed(if words == "check" { 2 } else { 1 }, text);
            }
        }
        assert!(files(folder) == before, "{:?}", files(folder).keys());
    });
}

/// `docker run -v FILE:FILE` mounts a file like this.
#[test]
fn store_file_mounted_by_itself_is_refused() {
    let server = Server::start();
    server.create(&plant(1, "Ficus", None)).plant();
    let elsewhere = TempDir::new().expect("a temporary folder");
    let mounted = elsewhere.path().join(STORE);
    fs::write(&mounted, "").expect("a file");
    let revoke = binary_in(elsewhere.path(), "token revoke first");
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
        let export = run(binary_in(server.folder(), "export --store").arg(&url)).succeeded();
        assert_eq!(export.lines().count(), 1);
    });
}

/// Only root can change the owner of a file. For other users the owner is the same anyway.
#[test]
fn store_created_by_root_gets_the_owner_of_its_folder() {
    let server = Server::start();
    let folder = TempDir::new().expect("a temporary folder");
    if has("root", geteuid().is_root()) {
        chown(folder.path(), Some(7), Some(8)).expect("root may change the owner");
    }
    let copy = folder.path().join(STORE);
    let to = format!("sqlite:{}", copy.display());
    server.run(&format!("copy --from {} --to {to} --tokens none", server.store())).succeeded();
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

/// Kills first starts before each of their writes and syncs.
#[test]
fn killed_first_start_stores_only_a_printed_token() {
    let mut issued = 0;
    for call in ["write", "pwrite64", "fdatasync", "fsync", "unlink"] {
        for number in 1.. {
            let folder = TempDir::new().expect("a temporary folder");
            let serve = binary_in(folder.path(), "serve --log-level error");
            let ended = run(&mut killed_before(call, number, &serve));
            if ended.stdout.contains("listening on") {
                break;
            }
            let tokens = tokens(folder.path());
            if !["", "[]"].contains(&&*tokens) {
                let printed = ended.stdout.strip_prefix("TOKEN=").expect("the token was printed");
                assert!(tokens.contains(&printed[..8]), "{tokens}");
                issued += 1;
            }
        }
    }
    assert!(issued > 0, "no start was killed after it had stored the token");
}

/// Nobody can put the WAL back after the process has closed it.
#[test]
fn wal_that_is_removed_is_written_back() {
    let both: &[&str] = &[WAL, WAL_INDEX];
    each_row([(&both[..1], false), (&both[..1], true), (both, false)], |(removed, is_read)| {
        let mut server = Server::start();
        create(&server, 0..3);
        let reader = database::open(&server);
        reader.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).expect("set");
        if is_read {
            reader.execute_batch("BEGIN; SELECT count(*) FROM plants").expect("a transaction");
        }
        create(&server, 3..4);
        for name in removed {
            fs::remove_file(server.folder().join(name)).expect("the file exists");
        }
        assert_eq!(server.wait().code(), Some(3));
        let log = server.log();
        let last = log.lines().last().expect("a line");
        assert!(last.contains("it was written back, so start the server again"), "{last}");
        drop(reader);
        let (_, stopped) = server.ended();
        assert!(stopped.start().export().into_keys().eq(0..4));
    });
}

/// The command would create a second WAL index, and the server would overwrite the command's
/// commits. In the first round the server is paused, so that it cannot exit before the command
/// runs.
#[test]
fn command_on_a_served_store_without_its_wal_index_is_refused() {
    for round in 0..amount(3, 14) {
        let mut server = Server::start();
        server.create(&plant(1, "Ficus", None)).plant();
        let paused = (round == 0).then(|| Paused::pause(server.pid()));
        fs::remove_file(server.folder().join(WAL_INDEX)).expect("the file exists");
        let created = server.run("token create second");
        let is_created = created.code == Some(0);
        let is_refused = created.stderr.contains("the store's -shm file is missing");
        assert!(is_refused || is_created && paused.is_none(), "{created:?}");
        drop(paused);
        // Whichever came first, the server must not overwrite the commit of the command.
        assert_eq!(server.wait().code(), Some(3));
        let log = server.log();
        let last = log.lines().last().expect("a line");
        assert!(last.contains("the store's files are no longer in place: "), "{log}");
        let (_, stopped) = server.ended();
        let server = stopped.start();
        assert!(server.export().into_keys().eq([1]));
        let listed = server.run("token list --json").succeeded();
        assert_eq!(listed.contains("second"), is_created);
    }
}
