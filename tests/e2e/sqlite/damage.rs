//! Damage: the store's file is truncated, or overwritten in the middle. Every 200 must be true, and
//! the service must not lose a plant that can still be read.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

use nix::sys::signal::Signal;
use plant_store_tests::{
    Server, Starting, amount, binary_in, failure, plant, without_own_variables,
};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::database::{self, STORE, WAL};

/// The number of plants in the store. Their ids are even; odd ids are for new plants.
const PLANTS: i64 = 400;

fn name(id: i64) -> String {
    format!("Ficus {id} ").repeat(100)
}

fn old_ids() -> impl Iterator<Item = i64> {
    (0..PLANTS).map(|id| id * 2)
}

fn new_ids() -> impl Iterator<Item = i64> {
    old_ids().map(|id| id + 1)
}

/// A stopped store of many pages. All of them are in the file, because the stop ran a checkpoint.
fn store() -> Starting {
    let server = Server::start();
    let mut connection = server.connect();
    for id in old_ids() {
        connection.exchange(&server.post(&plant(id, &name(id), None))).plant();
    }
    server.stopped_by(Signal::SIGTERM)
}

fn truncate(folder: &Path) {
    let store = File::options().write(true).open(folder.join(STORE)).expect("the store is a file");
    let length = store.metadata().expect("the file has a size").len();
    store.set_len(length / 2).expect("the file can be truncated");
}

fn overwrite(folder: &Path) {
    let store = File::options().write(true).open(folder.join(STORE)).expect("the store is a file");
    let length = store.metadata().expect("the file has a size").len();
    let garbage = vec![0xff; usize::try_from(length / 4).expect("a small file")];
    store.write_all_at(&garbage, length / 2).expect("the file can be written");
}

/// Returns the ids of the plants that SQLite can read, one by one, from a copy of the store.
fn readable(folder: &Path) -> BTreeSet<i64> {
    let copy = TempDir::new().expect("a temporary folder");
    for file in [STORE, WAL] {
        // A store that was closed has no WAL.
        let _ = fs::copy(folder.join(file), copy.path().join(file));
    }
    let store = Connection::open(copy.path().join(STORE)).expect("a database");
    let is_there = |id: &i64| {
        let query = "SELECT json ->> '$.name' = ?2 FROM plants WHERE id = ?1";
        store.query_row(query, (id, name(*id)), |row| row.get(0)).unwrap_or(false)
    };
    old_ids().chain(new_ids()).filter(is_there).collect()
}

/// Sends the old and the new plants. Returns the ids of the new plants that were answered with 200.
fn created(server: &Server) -> BTreeSet<i64> {
    let mut connection = server.connect();
    let mut send = |id: &i64| {
        let answer = connection.exchange(&server.post(&plant(*id, &name(*id), None)));
        if answer.status == 200 {
            answer.plant();
            return true;
        }
        let (error, message) = answer.refusal();
        assert_eq!(error, 500, "{id}: {message}");
        assert!(!message.contains("malformed"), "{message}");
        false
    };
    let old_answered = old_ids().filter(&mut send).count();
    let created: BTreeSet<_> = new_ids().filter(send).collect();
    assert!(old_answered > 0 && !created.is_empty(), "some of the store is undamaged");
    created
}

#[test]
fn truncated_store_is_refused_and_left_unchanged() {
    let stopped = store();
    truncate(stopped.folder());
    let bytes = || fs::read(stopped.folder().join(STORE)).expect("the file exists");
    let before = bytes();
    for words in ["serve", "export"] {
        let (status, stderr) = failure(binary_in(stopped.folder()).arg(words));
        assert_eq!(status, Some(1), "{words}");
        assert!(stderr.contains("malformed"), "{words}: {stderr}");
        assert!(bytes() == before, "{words} changes the file");
        assert_eq!(fs::read_dir(stopped.folder()).expect("a folder").count(), 2, "{words}");
    }
}

/// The file is damaged while the server has it open and some of its pages in memory. Creates that
/// need a damaged page get 500.
#[test]
fn damaged_store_loses_no_readable_plant() {
    for damage in [overwrite, truncate] {
        let server = store().start();
        // Because this commit is in the WAL, the next start does not refuse the truncated file.
        server.create(&plant(-1, "Ficus", None)).plant();
        damage(server.folder());
        let before = readable(server.folder());
        assert!(before.len() < old_ids().count(), "some plants can no longer be read");
        let mut expected = before;
        expected.extend(created(&server));

        let stopped = server.stopped_by(Signal::SIGKILL);
        assert!(readable(stopped.folder()).is_superset(&expected));
        let server = stopped.start();
        expected.extend(created(&server));
        server.wait_for_log("check it: run `plant-store check`");
        let stopped = server.stopped_by(Signal::SIGTERM);
        assert!(readable(stopped.folder()).is_superset(&expected));
    }
}

/// The number of plants in [`large_store`]: they need more than one interior page of SQLite's tree.
pub const MANY: i64 = 20_001;

/// A folder with the file of a closed store that has [`MANY`] plants and one token.
pub fn large_store() -> TempDir {
    let server = Server::start();
    let rows = format!(
        "WITH RECURSIVE ids (id) AS (SELECT 0 UNION ALL SELECT id + 1 FROM ids WHERE id < {})
        INSERT INTO plants (id, json) SELECT id, json_object('name', 'Ficus ' || id) FROM ids",
        MANY - 1
    );
    database::open(&server).execute_batch(&rows).expect("rows");
    let stopped = server.stopped_by(Signal::SIGTERM);
    let folder = TempDir::new().expect("a temporary folder");
    fs::copy(stopped.folder().join(STORE), folder.path().join(STORE)).expect("a copy");
    folder
}

/// Runs a command. It must end soon, and it must fail unless it has processed every plant. Returns
/// whether it succeeded, and its stderr.
fn processes_all_or_fails(folder: &Path, words: &[&str]) -> (bool, String) {
    let mut command = Command::new("timeout");
    command.arg("60").arg(binary_in(folder).get_program()).args(words).current_dir(folder);
    without_own_variables(&mut command);
    let output = command.output().expect("there is timeout");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(matches!(output.status.code(), Some(0..=2)), "{words:?}: {:?} {stderr}", output.status);
    if words[0] == "export" && output.status.success() {
        assert_all(&output.stdout, words);
    }
    (output.status.success(), stderr)
}

/// Asserts that there is a line for each id, in order. Damage within a text may go unnoticed.
fn assert_all(lines: &[u8], words: &[&str]) {
    let lines = String::from_utf8_lossy(lines);
    let id = |line: &str| line.strip_prefix("{\"id\":")?.split([',', '}']).next()?.parse().ok();
    let ids: Vec<i64> = lines.lines().filter_map(id).collect();
    assert!(ids.iter().copied().eq(0..MANY), "{words:?} exported {} plants", ids.len());
}

/// Tries every command that processes all plants of the store in that folder. Returns the stderr of
/// each command that failed.
fn try_every_command(folder: &Path) -> Vec<String> {
    let mut failed = Vec::new();
    let mut try_to = |words: &[&str]| {
        let (succeeded, stderr) = processes_all_or_fails(folder, words);
        if !succeeded {
            failed.push(stderr);
        }
        succeeded
    };
    try_to(&["check"]);
    try_to(&["export"]);
    let copy = ["copy", "--from", "sqlite:plant-store.db", "--to", "sqlite:copy.db"];
    if try_to(&[&copy[..], &["--tokens", "from"]].concat()) {
        processes_all_or_fails(folder, &["export", "--store", "sqlite:copy.db"]);
    }
    failed
}

/// The damaged row has a higher id, so reading on after that id skips the plants in between.
#[test]
fn flipped_bit_in_a_row_id_is_detected_by_every_command() {
    let folder = large_store();
    let file = folder.path().join(STORE);
    let mut bytes = fs::read(&file).expect("the store");
    // The id 10,000 as SQLite writes it, and the header of the row: its length, and a null for the
    // id.
    let row = [0xce, 0x10, 0x03, 0x00];
    let at = bytes.windows(4).position(|window| window == row).expect("the row");
    bytes[at] |= 0x20;
    fs::write(&file, bytes).expect("the store");
    let failed = try_every_command(folder.path());
    assert_eq!(failed.len(), 3, "{failed:?}");
    assert!(failed.iter().all(|stderr| stderr.contains("out of order")), "{failed:?}");
}

#[test]
fn no_command_reports_success_for_part_of_a_damaged_store() {
    let sound = large_store();
    let bytes = fs::read(sound.path().join(STORE)).expect("the store");
    let mut damaged = 0;
    let rounds = amount(8, 100);
    for _ in 0..rounds {
        let folder = TempDir::new().expect("a temporary folder");
        let mut bytes = bytes.clone();
        let length = rand::random_range(16..=1000);
        let at = rand::random_range(0..bytes.len() - length);
        println!("{length} bytes at {at}");
        bytes[at..at + length].iter_mut().for_each(|byte| *byte = rand::random());
        fs::write(folder.path().join(STORE), bytes).expect("the store");
        damaged += usize::from(!try_every_command(folder.path()).is_empty());
    }
    println!("{damaged} of {rounds} damaged files were refused by a command");
}
