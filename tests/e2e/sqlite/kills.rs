//! A server that is killed at any moment, also while it opens or closes its store. The next start
//! is never refused wrongly; without the WAL it is refused, or nothing is missing.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use nix::sys::signal::Signal;
use plant_store_tests::{Server, Starting, amount, binary_in, plant, run};
use tempfile::TempDir;

use crate::database::STORE;

/// How long a start or a stop is left alone at most before the kill, in microseconds.
const MOST: u64 = 30_000;

fn random_moment() {
    thread::sleep(Duration::from_micros(rand::random_range(0..MOST)));
}

/// Starts a server on the store and kills it, perhaps while it opens the store.
fn kill_while_it_starts(folder: &Path) {
    let mut serve = binary_in(folder);
    serve.args(["serve", "--listen", "127.0.0.1:0"]);
    let mut server = serve.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a process");
    random_moment();
    server.kill().expect("the process is ours");
    server.wait().expect("the process can be waited for");
}

/// Creates plants, and kills the server, perhaps while it closes the store.
fn kill_after_creates(server: Server, kept: &mut BTreeSet<i64>) -> Starting {
    let first = kept.last().map_or(0, |last| last + 1);
    for id in first..first + rand::random_range(0..20) {
        server.create(&plant(id, &"Ficus ".repeat(rand::random_range(1..10_000)), None)).plant();
        kept.insert(id);
    }
    if rand::random() {
        server.signal(Signal::SIGTERM);
        random_moment();
    }
    server.stopped_by(Signal::SIGKILL)
}

/// What a command reads, or what it says if it is refused.
fn ids(folder: &Path) -> Result<BTreeSet<i64>, String> {
    let output = run(folder, &["export"]);
    if !output.status.success() {
        return Err(String::from_utf8(output.stderr).expect("text"));
    }
    let text = String::from_utf8(output.stdout).expect("text");
    let id = |line| serde_json::from_str::<serde_json::Value>(line).ok()?["id"].as_i64();
    Ok(text.lines().map(|line| id(line).expect("a plant")).collect())
}

#[test]
fn killed_server_starts_again_with_every_plant_and_a_lost_wal_is_noticed() {
    let mut server = Server::start();
    let mut kept = BTreeSet::new();
    let mut noticed = 0;
    let rounds = amount(15, 300);
    for _ in 0..rounds {
        let stopped = kill_after_creates(server, &mut kept);
        for _ in 0..rand::random_range(0..3) {
            kill_while_it_starts(stopped.folder());
        }
        let alone = TempDir::new().expect("a temporary folder");
        fs::copy(stopped.folder().join(STORE), alone.path().join(STORE)).expect("a copy");
        match ids(alone.path()) {
            Ok(there) => assert!(there.is_superset(&kept), "a lost WAL is not noticed"),
            Err(said) => {
                assert!(said.contains("-wal is missing"), "{said}");
                noticed += 1;
            }
        }
        assert!(ids(stopped.folder()).expect("a sound store").is_superset(&kept));
        server = stopped.start();
    }
    println!("{rounds} rounds, {} plants kept, {noticed} lost WALs noticed", kept.len());
}
