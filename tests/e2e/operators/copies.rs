//! `plant-store copy`: what it copies, and that a new file is complete or not there, whatever
//! interrupts the copy.

use std::os::unix::fs::{PermissionsExt, symlink};

use plant_store_tests::prelude::*;
use plant_store_tests::store_of;

use super::killed::kill_copies;
use super::{Prepare, create, files};
use crate::database::STORE;

/// Returns the URL of a store in that file.
fn url(file: &Path) -> String {
    format!("sqlite:{}", file.display())
}

#[test]
fn copy_contains_every_plant_and_token() {
    let server = Server::start();
    create(&server, 0..2000);
    server.create(r#"{"id":-1,"name":"\u0000","tag":""}"#).plant();
    let ci = server.command(&["token", "create", "ci"]).trim_end().to_owned();
    let folder = TempDir::new().expect("a temporary folder");
    let file = folder.path().join(STORE);
    let copy = format!("copy --from {} --to {} --tokens from", server.store(), url(&file));
    let stdout = server.run(&copy).succeeded();
    assert!(stdout.contains("; plants: 2001, tokens: 2, digest: "), "{stdout}");
    let named = stdout.contains("accepts the token ci\n") && stdout.contains("token first\n");
    assert!(named, "{stdout}");
    assert!(files(folder.path()).into_keys().eq([STORE]), "no other file");
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
    let copy = |from: &str, name: &str, flags: &str| {
        server.run(format!("copy --from {from} --to {} {flags}", to(name)).trim_end())
    };
    copy(server.store(), "x.db", "").expect(2, "", "--tokens <from|none|URL>");
    assert!(files(folder.path()).is_empty());

    let listed = |name: &str| server.command(&["token", "list", "--store", &to(name)]);
    copy(server.store(), "none.db", "--tokens none").succeeded();
    assert_eq!(listed("none.db").lines().count(), 1, "only the header");
    copy(server.store(), "backup.db", "--tokens from").succeeded();
    server.command(&["token", "create", "new"]);
    server.command(&["token", "revoke", "first"]);
    let tokens = format!("--tokens {}", server.store());
    let stdout = copy(&to("backup.db"), "other.db", &tokens).succeeded();
    assert!(stdout.contains("accepts the token new\n"), "{stdout}");
    assert_eq!(listed("other.db"), server.command(&["token", "list"]));
}

#[test]
fn copy_to_a_taken_path_is_refused_and_changes_nothing() {
    let server = Server::start();
    create(&server, 0..3);
    let theirs: Prepare = |at| fs::write(at, "theirs").expect("a file");
    let link: Prepare = |at| symlink("nowhere", at).expect("a link");
    let rows: [(&str, Prepare, &str); 9] = [
        ("copy.db", theirs, "something already exists at"),
        ("copy.db", |at| fs::write(at, "").expect("a file"), "something already exists at"),
        ("copy.db", |at| fs::create_dir(at).expect("a folder"), "something already exists at"),
        ("copy.db", link, "something already exists at"),
        ("copy.db-wal", theirs, "copy.db-wal"),
        ("copy.db-shm", theirs, "copy.db-shm"),
        ("copy.db-journal", theirs, "copy.db-journal"),
        ("copy.db-wal", link, "copy.db-wal"),
        ("no/copy.db", |_| {}, "there is no folder"),
    ];
    each_row(rows, |(name, take, expected)| {
        let folder = TempDir::new().expect("a temporary folder");
        take(&folder.path().join(name));
        let before = files(folder.path());
        let file = name.split("db").next().unwrap_or_default().to_owned() + "db";
        let to = url(&folder.path().join(file));
        let copy = format!("copy --from {} --to {to} --tokens from", store_of(server.folder()));
        server.run(&copy).failed(1, expected);
        assert!(files(folder.path()) == before, "{:?}", files(folder.path()).keys());
    });
}

/// A limit on the file size simulates the full disk.
#[test]
fn copy_onto_a_full_disk_leaves_nothing_at_its_path() {
    let server = Server::start();
    create(&server, 0..500);
    let folder = TempDir::new().expect("a temporary folder");
    let to = url(&folder.path().join(STORE));
    let mut copy = binary_in(server.folder());
    copy.args(["copy", "--from", server.store(), "--to", &to, "--tokens", "from"]);
    let script = "trap '' XFSZ; ulimit -f 200 && exec \"$0\" \"$@\"";
    run(&mut in_shell(script, &copy)).expect(1, "", "cannot write the copy");
    assert!(files(folder.path()).is_empty(), "{:?}", files(folder.path()).keys());
}

#[test]
fn killed_copy_is_whole_or_not_there() {
    let server = Server::start();
    create(&server, 0..200);
    kill_copies(
        &server,
        "sqlite:copy.db",
        "",
        || {},
        |folder| {
            for name in files(folder).into_keys() {
                let is_known = name == "copy.db" || name.starts_with("copy.db.unfinished-copy-");
                assert!(is_known, "{name}");
            }
        },
    );
}
