//! `plant-store copy`, while the server writes. A new file is a store only when the copy has ended;
//! a copy into PostgreSQL may be run again.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use nix::sys::signal::Signal;
use plant_store_tests::{
    Server, Starting, amount, binary_in, plant, run, store_of, without_own_variables,
};
use tempfile::TempDir;

use super::killed::before_each_call;
use super::{create, files, names};
use crate::database::STORE;
use crate::hard_to_kill::load::{Answer, Load, Sent};

/// The server is killed after a random number of answers, at most this many.
const MAX_ANSWERS: usize = 200;

/// The URL of a store in that file.
fn url(file: &Path) -> String {
    format!("sqlite:{}", file.display())
}

/// Copies the store of that folder.
fn copy(folder: &Path, to: &str) -> Output {
    run(folder, &["copy", "--from", &store_of(folder), "--to", to])
}

/// The same, which must succeed.
fn copied(folder: &Path, to: &str) {
    copied_by(binary_in(folder).args(["copy", "--from", &store_of(folder), "--to", to]));
}

#[test]
fn copy_has_every_plant_and_every_token() {
    let server = Server::start();
    create(&server, 0..2000);
    server.create(r#"{"id":-1,"name":"\u0000","tag":""}"#).plant();
    let ci = server.command(&["token", "create", "ci"]).trim_end().to_owned();
    let folder = TempDir::new().expect("a temporary folder");
    copied(server.folder(), &url(&folder.path().join(STORE)));
    assert_eq!(files(folder.path()).into_keys().collect::<Vec<_>>(), [STORE], "and nothing else");

    let restored = Starting::on(folder, &ci).start();
    assert_eq!(restored.command(&["export"]), server.command(&["export"]));
    restored.create(&plant(3000, "Fern", None)).plant();
    // A store of its own: what happens to one does not happen to the other.
    assert_eq!(server.export().len(), 2001);
    server.create_with(&plant_store_tests::bearer(&ci), &plant(3001, "Fern", None)).plant();
}

#[test]
fn copy_to_a_path_that_is_taken_is_refused_and_changes_nothing() {
    let server = Server::start();
    create(&server, 0..3);
    let folder = TempDir::new().expect("a temporary folder");
    fs::write(folder.path().join("file.db"), "somebody's").expect("a file");
    fs::create_dir(folder.path().join("folder.db")).expect("a folder");
    std::os::unix::fs::symlink("nowhere", folder.path().join("link.db")).expect("a link");
    fs::write(folder.path().join("left.db-wal"), "somebody's").expect("a file");
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
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(expected), "{name}: {said}");
        assert!(files(folder.path()) == before, "{name}");
    }
}

/// A limit on file size stands for a disk that is full.
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
    let said = String::from_utf8_lossy(&output.stderr);
    let target = format!("cannot write to {}: ", url(&folder.path().join(STORE)));
    assert!(!output.status.success() && said.contains(&target), "{said}");
    let left: Vec<_> = files(folder.path()).into_keys().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn copy_that_is_killed_at_any_call_is_no_store_until_the_next_copy() {
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
    before_each_call(
        || TempDir::new().expect("a temporary folder"),
        copy,
        |folder| {
            let left = names(folder, "copy.db");
            let output = copy(folder).output().expect("it runs");
            let said = String::from_utf8_lossy(&output.stderr);
            if said.contains("a copy into it was interrupted. If it was a copy, delete the file") {
                let read = run(folder, &["export", "--store", "sqlite:copy.db"]);
                assert!(!read.status.success(), "a part of the plants is no store");
                for name in left {
                    fs::remove_file(folder.join(name)).expect("a file");
                }
                copied_by(&mut copy(folder));
            } else {
                assert!(
                    output.status.success() || said.contains("something already exists at"),
                    "{said}"
                );
            }
            let read = run(folder, &["export", "--store", "sqlite:copy.db"]);
            assert!(String::from_utf8_lossy(&read.stdout) == exported, "the copy is not whole");
        },
    );
}

fn copied_by(command: &mut Command) {
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Under load: copied, killed at a random moment, and served from the copy.
#[test]
fn copy_under_load_has_every_plant_that_was_acknowledged_before_it() {
    let mut load = Load::default();
    let mut server = Server::start();
    for _ in 0..amount(2, 200) {
        let folder = TempDir::new().expect("a temporary folder");
        let mut before = 0;
        let mut sent = load.run_to_end(&server, |progress| {
            progress.wait_for(rand::random_range(0..=MAX_ANSWERS), Answer::Created);
            before = progress.answers();
            copied(server.folder(), &url(&folder.path().join(STORE)));
            server.signal(Signal::SIGKILL);
        });
        // The copy may have what was answered while it was made, or not.
        sent[before..].iter_mut().for_each(|attempt| attempt.answer = Answer::Lost);
        server = Starting::on(folder, &server.token).start();
        load.check(&server, &sent);
        load.check(&server, &Sent::default());
    }
}
