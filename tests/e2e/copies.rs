//! `plant-store copy`: what it copies, and that a new file is complete or not there, whatever
//! interrupts the copy.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;

use plant_store_tests::postgres::Session;
use plant_store_tests::prelude::*;
use plant_store_tests::process::killed_before;
use rusqlite::Connection;

use crate::database::{self, Prepare, STORE, create, files};

/// Returns the URL of a store for commands that run in any folder. The path in `url` is relative to
/// `folder`, if it is the URL of a file.
fn absolute(folder: &Path, url: &str) -> String {
    match url.strip_prefix("sqlite:") {
        Some(file) => format!("sqlite:{}", folder.join(file).display()),
        None => url.to_owned(),
    }
}

#[test]
fn copy_and_its_copy_keep_every_byte_and_token() {
    assert_copy_keeps_every_byte(Folder::new());
}

/// Copies a store with plants of every kind, on several pages, into the store of that folder, and
/// from there into a file.
pub fn assert_copy_keeps_every_byte(folder: Folder) {
    let server = Server::start();
    for (id, name, tag) in [
        (i64::MIN, "\0", None),
        (-1, "", Some("")),
        (0, "Fern 🌱 \"lyrata\" \\", Some("indoor")),
        (i64::MAX, "Fern", Some("")),
    ] {
        server.create(&plant(id, name, tag)).plant();
    }
    database::insert(&server, 10..2510);
    let ci = server.run("token create ci").succeeded();
    let exported = server.run("export").succeeded();
    let to = absolute(folder.path(), folder.store());
    let stdout = server.run(&format!("copy --from {} --to {to} --tokens from", server.store()));
    let stdout = stdout.succeeded();
    assert!(stdout.contains("; plants: 2504, tokens: 2, digest: "), "{stdout}");
    let named = stdout.contains("accepts the token ci\n") && stdout.contains("token first\n");
    assert!(named, "{stdout}");
    if let Some(file) = to.strip_prefix("sqlite:") {
        assert!(files(folder.path()).into_keys().eq([STORE]), "no other file");
        assert_eq!(fs::metadata(file).expect("the copy").permissions().mode() & 0o777, 0o600);
    }
    let digest = |words: &str| {
        let printed = server.run(words).succeeded();
        let (_, digest) = printed.trim_end().rsplit_once("digest: ").expect("a digest at the end");
        assert_eq!(digest.len(), 64, "{printed}");
        digest.to_owned()
    };
    let copied = digest(&format!("copy --from {to} --to sqlite:back.db --tokens none"));
    for store in [server.store(), &to, "sqlite:back.db"] {
        let in_store = server.run(&format!("export --store {store}")).succeeded();
        assert!(in_store == exported, "{store} differs");
        assert_eq!(digest(&format!("check --store {store}")), copied, "{store}");
    }
    let back = Connection::open(server.folder().join("back.db")).expect("the copy opens");
    let change = r#"UPDATE plants SET json = '{"name":"Ficus 78"}' WHERE id = 77"#;
    back.execute_batch(change).expect("a plant of the same length");
    assert_ne!(digest("check --store sqlite:back.db"), copied, "one plant was changed");

    // Clients see the copied plants as the same: a repeat gets 200, and a different plant 409.
    let copied = Starting::on(folder, ci.trim_end()).start();
    for line in exported.lines().filter(|line| !line.contains("Ficus")) {
        copied.create(line).plant();
    }
    assert_eq!(copied.create(&plant(i64::MAX, "Fern", None)).error(), 409, "the tag is ''");
    // The copy is independent: a change of one store does not affect the other.
    copied.create(&plant(3000, "Fern", None)).plant();
    assert!(server.run("export").succeeded() == exported);
    server.create_with(&bearer(ci.trim_end()), &plant(3001, "Fern", None)).plant();
}

/// A forgotten choice must not accept a token that was revoked.
#[test]
fn tokens_of_a_copy_are_those_that_the_command_names() {
    let server = Server::start();
    server.create(&plant(1, "Ficus", None)).plant();
    let folder = TempDir::new().expect("a temporary folder");
    let to = |name: &str| format!("sqlite:{}", folder.path().join(name).display());
    let copy = |from: &str, name: &str, flags: &str| {
        server.run(format!("copy --from {from} --to {} {flags}", to(name)).trim_end())
    };
    copy(server.store(), "x.db", "").expect(2, "", "--tokens <from|none|URL>");
    assert!(files(folder.path()).is_empty());

    let listed = |name: &str| server.run(&format!("token list --store {}", to(name))).succeeded();
    copy(server.store(), "none.db", "--tokens none").succeeded();
    assert_eq!(listed("none.db").lines().count(), 1, "only the header");
    copy(server.store(), "backup.db", "--tokens from").succeeded();
    server.run("token create new").succeeded();
    server.run("token revoke first").succeeded();
    let tokens = format!("--tokens {}", server.store());
    let stdout = copy(&to("backup.db"), "other.db", &tokens).succeeded();
    assert!(stdout.contains("accepts the token new\n"), "{stdout}");
    assert_eq!(listed("other.db"), server.run("token list").succeeded());
}

#[test]
fn copy_to_a_taken_path_is_refused_and_changes_nothing() {
    let server = Server::start();
    create(&server, 0..3);
    let theirs: Prepare = |at| fs::write(at, "theirs").expect("a file");
    let link: Prepare = |at| symlink("nowhere", at).expect("a link");
    let rows: [(&str, Prepare, &str); 5] = [
        ("copy.db", |at| fs::write(at, "").expect("a file"), "something already exists at"),
        ("copy.db", link, "something already exists at"),
        ("copy.db-wal", theirs, "copy.db-wal"),
        ("copy.db-journal", link, "copy.db-journal"),
        ("no/copy.db", |_| {}, "there is no folder"),
    ];
    each_row(rows, |(name, take, expected)| {
        let folder = TempDir::new().expect("a temporary folder");
        take(&folder.path().join(name));
        let before = files(folder.path());
        let file = folder.path().join(name.split('-').next().unwrap_or_default());
        let copy = format!("copy --from {} --to sqlite:{}", server.store(), file.display());
        server.run(&(copy + " --tokens from")).failed(1, expected);
        assert!(files(folder.path()) == before, "{:?}", files(folder.path()).keys());
    });
}

/// A limit on the file size simulates the full disk.
#[test]
fn copy_onto_a_full_disk_leaves_nothing_at_its_path() {
    let server = Server::start();
    create(&server, 0..500);
    let folder = TempDir::new().expect("a temporary folder");
    let to = format!("sqlite:{}", folder.path().join(STORE).display());
    let words = format!("copy --from {} --to {to} --tokens from", server.store());
    let copy = binary_in(server.folder(), &words);
    let script = "trap '' XFSZ; ulimit -f 200 && exec \"$0\" \"$@\"";
    run(&mut in_shell(script, &copy)).expect(1, "", "cannot write the copy");
    assert!(files(folder.path()).is_empty(), "{:?}", files(folder.path()).keys());
}

/// The calls with which a copy changes a file or sends something to a database. A mapped file
/// changes without a call, but the commands map only the WAL index, which SQLite recreates.
const CALLS: [&str; 6] = ["write", "pwrite64", "fsync", "sendto", "unlink", "renameat2"];

/// The calls that only fill a file or a table. A short run tries every fourth one.
const FILLING: [&str; 3] = ["pwrite64", "fsync", "sendto"];

/// A copy is killed before one of its calls, each time a different one. Then the same command, with
/// `--add` for a database, makes the copy.
#[test]
fn killed_copy_is_whole_or_no_store() {
    let server = Server::start();
    let is_file = Engine::of_this_run() == Engine::Sqlite;
    database::insert(&server, if is_file { 0..6000 } else { 0..2500 });
    let exported = server.run("export").succeeded();
    let from = absolute(server.folder(), server.store());
    let mut kills = 0;
    for call in CALLS {
        let step = if FILLING.contains(&call) { amount(4, 1) } else { 1 };
        for number in (rand::random_range(1..=step)..).step_by(step) {
            let folder = Folder::new();
            let copy = format!("copy --from {from} --to {} --tokens from", folder.store());
            let mut copying = killed_before(call, number, &folder.command(&copy));
            let status = copying.stdout(Stdio::null()).status().expect("there is strace");
            if status.signal() != Some(Signal::SIGKILL as i32) {
                assert_eq!(status.code(), Some(0));
                break;
            }
            kills += 1;
            if is_file {
                let unfinished = format!("{STORE}.unfinished-copy-");
                let is_known = |name: &str| name == STORE || name.starts_with(&unfinished);
                let files = files(folder.path());
                assert!(files.keys().all(|name| is_known(name)), "{:?}", files.keys());
            } else {
                wait_for_end(&Session::open(folder.store()));
            }
            if folder.run("export").code != Some(0) {
                let add = if is_file { "" } else { " --add" };
                folder.run(&(copy + add)).succeeded();
            }
            let copied = folder.run("export").succeeded();
            assert!(copied == exported, "the copy is incomplete");
            let tokens = folder.run("token list").succeeded();
            assert!(tokens.contains("\nfirst "));
            assert!(server.run("export").succeeded() == exported, "the source is unchanged");
        }
    }
    assert!(kills > 10, "strace killed the command only {kills} times");
}

/// Waits until no command has a session with the database of this session.
fn wait_for_end(session: &Session) {
    let sessions = "SELECT count(*) FROM pg_stat_activity
        WHERE application_name = 'plant-store' AND datname = current_database()";
    wait_until(|| session.value(sessions) == "0", || "a session of the copy stays".into());
}
