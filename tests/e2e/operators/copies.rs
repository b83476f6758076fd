//! `plant-store copy`: backup and restore, while the server writes, and stopped at any moment.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use plant_store_tests::{
    Server, Starting, amount, binary_in, failure, plant, run, store_of, terminal,
    without_own_variables,
};
use tempfile::TempDir;

use super::{create, files};
use crate::database::{STORE, WAL};
use crate::hard_to_kill::load::{Load, Sent};

/// The server is killed after a random number of answers, at most this many.
const MAX_ANSWERS: usize = 200;

/// Copies the store of that folder into a file.
fn copy(folder: &Path, to: &Path) -> Output {
    run(folder, &["copy", "--from", &store_of(folder), "--to", &format!("sqlite:{}", to.display())])
}

/// The copy, begun in the background.
fn begin(folder: &Path, to: &str) -> Child {
    binary_in(folder)
        .args(["copy", "--from", &store_of(folder), "--to", to])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts")
}

/// The lines that a copy prints: both sides, with the same amounts and the same checksum.
fn tallies(output: &Output) -> [String; 2] {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout.clone()).expect("text");
    let [from, to] = printed.lines().collect::<Vec<_>>()[..] else { panic!("{printed}") };
    [from, to].map(|line| line[line.find("plants: ").expect("a store and its tally")..].to_owned())
}

#[test]
fn copy_has_every_plant_and_every_token_and_says_so() {
    let server = Server::start();
    create(&server, 0..2000);
    server.create(r#"{"id":-1,"name":"\u0000","tag":""}"#).plant();
    let ci = server.command(&["token", "create", "ci"]).trim_end().to_owned();
    let folder = TempDir::new().expect("a temporary folder");
    let [from, to] = tallies(&copy(server.folder(), &folder.path().join(STORE)));
    assert_eq!(from, to);
    assert!(from.starts_with("plants: 2001, tokens: 2, checksum: "), "{from}");
    assert_eq!(files(folder.path()).into_keys().collect::<Vec<_>>(), [STORE], "and nothing else");

    let restored = Starting::on(folder, &ci).start();
    assert_eq!(restored.command(&["export"]), server.command(&["export"]));
    restored.create(&plant(3000, "Fern", None)).plant();
    // A store of its own: what happens to one does not happen to the other.
    assert_eq!(server.export().len(), 2001);
    server.create_with(&plant_store_tests::bearer(&ci), &plant(3001, "Fern", None)).plant();
}

#[test]
fn copies_of_the_same_plants_have_the_same_checksum_in_any_order() {
    let [one, other] = [[1, 2, 3], [3, 1, 2]].map(|ids| {
        let server = Server::start();
        for id in ids {
            server.create(&plant(id, "Ficus", Some("indoor"))).plant();
        }
        server.command(&["token", "revoke", "first"]);
        let [tally, _] = tallies(&copy(server.folder(), &server.folder().join("copy.db")));
        tally
    });
    assert_eq!(one, other);
    let server = Server::start();
    server.command(&["token", "revoke", "first"]);
    let [none, _] = tallies(&copy(server.folder(), &server.folder().join("copy.db")));
    assert_eq!(none, format!("plants: 0, tokens: 0, checksum: {:032}", 0));
}

#[test]
fn copy_to_a_place_that_is_taken_is_refused_and_changes_nothing() {
    let server = Server::start();
    create(&server, 0..3);
    let folder = TempDir::new().expect("a temporary folder");
    fs::write(folder.path().join("file.db"), "somebody's").expect("a file");
    fs::create_dir(folder.path().join("folder.db")).expect("a folder");
    std::os::unix::fs::symlink("nowhere", folder.path().join("link.db")).expect("a link");
    fs::write(folder.path().join("left.db-wal"), "somebody's").expect("a file");
    let before = files(folder.path());
    for (name, expected) in [
        ("file.db", "there is something at"),
        ("folder.db", "there is something at"),
        ("link.db", "there is something at"),
        ("left.db", "left.db-wal"),
        ("no/copy.db", "there is no folder"),
    ] {
        let output = copy(server.folder(), &folder.path().join(name));
        assert_eq!(output.status.code(), Some(1), "{name}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(expected), "{name}: {said}");
        assert!(files(folder.path()) == before, "{name}");
    }
    let onto_itself = ["copy", "--from", server.store(), "--to", server.store()];
    let output = run(server.folder(), &onto_itself);
    assert!(String::from_utf8_lossy(&output.stderr).contains("there is something at"));
}

/// A limit on file size stands for a disk that is full.
#[test]
fn copy_that_finds_no_room_leaves_nothing() {
    let server = Server::start();
    create(&server, 0..500);
    let folder = TempDir::new().expect("a temporary folder");
    let script = format!(
        "ulimit -f 200 && exec '{}' copy --from '{}' --to sqlite:{}",
        binary_in(folder.path()).get_program().display(),
        server.store(),
        folder.path().join(STORE).display()
    );
    let mut command = Command::new("sh");
    without_own_variables(&mut command);
    let (status, said) = failure(command.args(["-c", &script]).current_dir(server.folder()));
    assert_eq!(status, Some(1));
    assert!(said.contains("cannot write the plants"), "{said}");
    assert!(files(folder.path()).is_empty());
}

/// SIGTERM and SIGINT take the unfinished copy away; after SIGKILL it stays, under a name of its
/// own, and never in the place of the store.
#[test]
fn copy_that_is_stopped_at_any_moment_leaves_the_source_and_no_copy() {
    let server = Server::start();
    create(&server, 0..2000);
    let stopped = server.stopped_by(Signal::SIGTERM);
    let before = files(stopped.folder());
    let folder = TempDir::new().expect("a temporary folder");
    let to = format!("sqlite:{}", folder.path().join(STORE).display());
    for _ in 0..amount(20, 200) {
        let signal = [Signal::SIGKILL, Signal::SIGTERM, Signal::SIGINT][rand::random_range(0..3)];
        let mut copy = begin(stopped.folder(), &to);
        // The random moment itself: nothing is waited for.
        std::thread::sleep(Duration::from_micros(rand::random_range(0..40_000)));
        let process = Pid::from_raw(i32::try_from(copy.id()).expect("a process id"));
        // It may have ended by now.
        let _ = kill(process, signal);
        let finished = copy.wait().expect("the process can be waited for").success();
        let left: Vec<_> = files(folder.path()).into_keys().collect();
        assert_eq!(left.contains(&STORE.to_owned()), finished, "{left:?}");
        for file in left {
            let is_unfinished = signal == Signal::SIGKILL && file.starts_with(".plant-store-");
            assert!(file == STORE || is_unfinished, "{file} after {signal}");
            fs::remove_file(folder.path().join(file)).expect("the file is there");
        }
        // A killed process leaves the empty WAL that it opened.
        let after = files(stopped.folder());
        assert!(after.get(STORE) == before.get(STORE));
        assert!(after.get(WAL).is_none_or(Vec::is_empty));
    }
}

/// Under load: copied, killed at a random moment, and served from the copy.
#[test]
fn copy_under_load_has_every_plant_that_was_acknowledged_before_it() {
    let (mut load, mut server) = (Load::default(), Server::start());
    let rounds = amount(2, 200);
    for _ in 0..rounds {
        let folder = TempDir::new().expect("a temporary folder");
        let mut before = BTreeSet::new();
        let sent = load.run(&server, |progress| {
            progress.wait_for_answers(&server, rand::random_range(0..=MAX_ANSWERS));
            before = progress.answered();
            let [from, to] = tallies(&copy(server.folder(), &folder.path().join(STORE)));
            assert_eq!(from, to);
            server.signal(Signal::SIGKILL);
        });
        let restored = Starting::on(folder, &server.token).start();
        load.check_copy(&restored, &before, &sent);
        load.send_again(&restored, &sent);
        server = restored;
        load.check(&server, &Sent::default());
    }
    println!("{rounds} copies: {} plants kept", load.kept());
}

#[test]
fn copy_shows_progress_on_a_terminal() {
    let server = Server::start();
    create(&server, 0..2000);
    let (mut terminal, slave) = terminal();
    let status = binary_in(server.folder())
        .args(["copy", "--from", server.store(), "--to", "sqlite:copy.db"])
        .stdout(Stdio::null())
        .stderr(slave)
        .status()
        .expect("the binary starts");
    assert!(status.success());
    let mut shown = Vec::new();
    let _ = terminal.read_to_end(&mut shown);
    let shown = String::from_utf8_lossy(&shown);
    for expected in ["copying", "checking", "/2,000 plants"] {
        assert!(shown.contains(expected), "{expected}: {shown:?}");
    }
}
