//! A server that is killed at any moment, also while it opens or closes its store.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use nix::sys::signal::Signal;
use plant_store_tests::{Server, Starting, amount, binary_in, plant};

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

#[test]
fn server_that_is_killed_at_any_moment_starts_again_with_every_plant() {
    let mut server = Server::start();
    let mut kept = BTreeSet::new();
    let rounds = amount(15, 300);
    for _ in 0..rounds {
        let stopped = kill_after_creates(server, &mut kept);
        for _ in 0..rand::random_range(0..3) {
            kill_while_it_starts(stopped.folder());
        }
        server = stopped.start();
        let there: BTreeSet<_> = server.export().into_keys().collect();
        assert!(there.is_superset(&kept));
    }
    println!("{rounds} rounds, {} plants kept", kept.len());
}
