//! A server that is killed at random moments, including while it opens or closes its store.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use nix::sys::signal::Signal;
use plant_store_tests::{Server, Starting, amount, binary_in, plant};

/// The longest delay between a start or a stop and the kill, in microseconds.
const MAX_DELAY: u64 = 30_000;

fn random_delay() {
    thread::sleep(Duration::from_micros(rand::random_range(0..MAX_DELAY)));
}

/// Starts a server on the store and kills it, perhaps while it opens the store.
fn kill_while_it_starts(folder: &Path) {
    let mut serve = binary_in(folder);
    serve.args(["serve", "--listen", "127.0.0.1:0"]);
    let mut server = serve.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a process");
    random_delay();
    server.kill().expect("the process is ours");
    server.wait().expect("the process can be waited for");
}

/// Creates plants and kills the server, perhaps while it closes the store.
fn kill_after_creates(server: Server, created: &mut BTreeSet<i64>) -> Starting {
    let first = created.last().map_or(0, |last| last + 1);
    for id in first..first + rand::random_range(0..20) {
        server.create(&plant(id, &"Ficus ".repeat(rand::random_range(1..10_000)), None)).plant();
        created.insert(id);
    }
    if rand::random() {
        server.signal(Signal::SIGTERM);
        random_delay();
    }
    server.stopped_by(Signal::SIGKILL)
}

#[test]
fn killed_server_restarts_with_every_plant() {
    let mut server = Server::start();
    let mut created = BTreeSet::new();
    let rounds = amount(15, 300);
    for _ in 0..rounds {
        let stopped = kill_after_creates(server, &mut created);
        for _ in 0..rand::random_range(0..3) {
            kill_while_it_starts(stopped.folder());
        }
        server = stopped.start();
        let stored: BTreeSet<_> = server.export().into_keys().collect();
        assert!(stored.is_superset(&created));
    }
    println!("{rounds} rounds, {} plants", created.len());
}
