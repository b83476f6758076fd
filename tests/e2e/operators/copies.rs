//! `plant-store copy` while the server writes. A new file becomes a store only when the copy has
//! finished; a copy into PostgreSQL may be run again.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use nix::sys::signal::Signal;
use plant_store_tests::{
    Server, Starting, amount, binary_in, plant, run, store_of, without_own_variables,
};
use tempfile::TempDir;

use super::killed::kill_before_each_call;
use super::{create, files, names};
use crate::database::STORE;
use crate::hard_to_kill::load::{Answer, Load, Sent};

/// The maximum number of answers before the server is killed.
const MAX_ANSWERS: usize = 200;

/// Returns the URL of a store in that file.
fn url(file: &Path) -> String {
    format!("sqlite:{}", file.display())
}

/// Copies the store of that folder.
fn copy(folder: &Path, to: &str) -> Output {
    run(folder, &["copy", "--from", &store_of(folder), "--to", to])
}

/// Copies the store of that folder, which must succeed.
fn copy_succeeds(folder: &Path, to: &str) {
    succeeds(binary_in(folder).args(["copy", "--from", &store_of(folder), "--to", to]));
}

#[test]
fn copy_contains_every_plant_and_token() {
    let server = Server::start();
    create(&server, 0..2000);
    server.create(r#"{"id":-1,"name":"\u0000","tag":""}"#).plant();
    let ci = server.command(&["token", "create", "ci"]).trim_end().to_owned();
    let folder = TempDir::new().expect("a temporary folder");
    copy_succeeds(server.folder(), &url(&folder.path().join(STORE)));
    assert_eq!(files(folder.path()).into_keys().collect::<Vec<_>>(), [STORE], "no other file");

    let restored = Starting::on(folder, &ci).start();
    assert_eq!(restored.command(&["export"]), server.command(&["export"]));
    restored.create(&plant(3000, "Fern", None)).plant();
    // The copy is independent: a change of one store does not affect the other.
    assert_eq!(server.export().len(), 2001);
    server.create_with(&plant_store_tests::bearer(&ci), &plant(3001, "Fern", None)).plant();
}

#[test]
fn copy_to_a_taken_path_is_refused_and_changes_nothing() {
    let server = Server::start();
    create(&server, 0..3);
    let folder = TempDir::new().expect("a temporary folder");
    fs::write(folder.path().join("file.db"), "theirs").expect("a file");
    fs::create_dir(folder.path().join("folder.db")).expect("a folder");
    std::os::unix::fs::symlink("nowhere", folder.path().join("link.db")).expect("a link");
    fs::write(folder.path().join("left.db-wal"), "theirs").expect("a file");
    let before = files(folder.path());
    for (name, expected) in [
        ("file.db", "something already exists at"),
        ("folder.db", "is a folder or a device"),
        ("link.db", "is a symbolic link to a missing file"),
        ("left.db", "left.db-wal"),
        ("no/copy.db", "there is no folder"),
    ] {
        let output = copy(server.folder(), &url(&folder.path().join(name)));
        assert_eq!(output.status.code(), Some(1), "{name}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains(expected), "{name}: {stderr}");
        assert!(files(folder.path()) == before, "{name}");
    }
}

/// A limit on the file size simulates the full disk.
#[test]
fn copy_onto_a_full_disk_leaves_nothing_at_its_path() {
    let server = Server::start();
    create(&server, 0..500);
    let folder = TempDir::new().expect("a temporary folder");
    let script = format!(
        "trap '' XFSZ; ulimit -f 200 && exec '{}' copy --from '{}' --to {}",
        binary_in(folder.path()).get_program().display(),
        server.store(),
        url(&folder.path().join(STORE))
    );
    let mut command = Command::new("sh");
    without_own_variables(&mut command);
    let output = command.args(["-c", &script]).current_dir(server.folder()).output();
    let output = output.expect("there is a shell");
    let stderr = String::from_utf8_lossy(&output.stderr);
    let target = format!("cannot write to {}: ", url(&folder.path().join(STORE)));
    assert!(!output.status.success() && stderr.contains(&target), "{stderr}");
    let left: Vec<_> = files(folder.path()).into_keys().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn killed_copy_is_not_a_store_until_the_next_copy() {
    let server = Server::start();
    create(&server, 0..3);
    let exported = server.command(&["export"]);
    let from = match server.store().strip_prefix("sqlite:") {
        Some(file) => url(&server.folder().join(file)),
        None => server.store().to_owned(),
    };
    let copy = |folder: &Path| {
        let mut command = binary_in(folder);
        command.args(["copy", "--from", &from, "--to", "sqlite:copy.db"]);
        command
    };
    kill_before_each_call(
        || TempDir::new().expect("a temporary folder"),
        copy,
        |folder| {
            let left = names(folder, "copy.db");
            let output = copy(folder).output().expect("it runs");
            let stderr = String::from_utf8_lossy(&output.stderr);
            if stderr.contains("a copy into it was interrupted. If it was a copy, delete the file")
            {
                let read = run(folder, &["export", "--store", "sqlite:copy.db"]);
                assert!(!read.status.success(), "an incomplete copy is not a store");
                for name in left {
                    fs::remove_file(folder.join(name)).expect("a file");
                }
                succeeds(&mut copy(folder));
            } else {
                assert!(
                    output.status.success() || stderr.contains("something already exists at"),
                    "{stderr}"
                );
            }
            let read = run(folder, &["export", "--store", "sqlite:copy.db"]);
            assert!(String::from_utf8_lossy(&read.stdout) == exported, "the copy is incomplete");
        },
    );
}

fn succeeds(command: &mut Command) {
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// In each round a store is copied under load, its server is killed, and the copy is served.
#[test]
fn copy_under_load_contains_every_plant_acknowledged_before_it() {
    let mut load = Load::default();
    let mut server = Server::start();
    for _ in 0..amount(2, 200) {
        let folder = TempDir::new().expect("a temporary folder");
        let mut before = 0;
        let mut sent = load.run_to_end(&server, |progress| {
            progress.wait_for(rand::random_range(0..=MAX_ANSWERS), Answer::Created);
            before = progress.answers();
            copy_succeeds(server.folder(), &url(&folder.path().join(STORE)));
            server.signal(Signal::SIGKILL);
        });
        // The copy may or may not contain the plants that were acknowledged while it was made.
        sent[before..].iter_mut().for_each(|attempt| attempt.answer = Answer::Lost);
        server = Starting::on(folder, &server.token).start();
        load.check(&server, &sent);
        load.check(&server, &Sent::default());
    }
}
