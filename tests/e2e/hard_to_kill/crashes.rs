//! Stopped under load at random moments, again and again: what was answered is there, byte for
//! byte, and nothing that nobody sent.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use plant_store_tests::{Server, Starting, amount, binary};

use super::load::Load;
use crate::database::LOG;

/// At most after how many answers a server is stopped.
const ANSWERS: usize = 200;
/// At most how long a start takes that is cut off, in microseconds.
const START: u64 = 20_000;

/// Kills a server while it starts on the store, before or after it could read the log.
fn killed_while_starting(stopped: &Starting) {
    let mut process = Command::new(binary())
        .args(["serve", "--listen", "127.0.0.1:0"])
        .current_dir(stopped.folder())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    // The random moment itself: nothing is waited for.
    std::thread::sleep(Duration::from_micros(rand::random_range(0..START)));
    process.kill().expect("the process is ours");
    process.wait().expect("the process can be waited for");
}

#[test]
fn sigkill_loses_no_acknowledged_plant_and_invents_none() {
    let kills = amount(5, 500);
    let (mut load, mut server) = (Load::default(), Server::start());
    let (mut answered, mut longest_start) = (0, Duration::ZERO);
    for _ in 0..kills {
        let sent = load.run(&server, |progress| {
            progress.wait_for_answers(&server, rand::random_range(0..=ANSWERS));
            server.signal(Signal::SIGKILL);
        });
        assert!(sent.failed.is_empty() && sent.refused.is_empty(), "the store had no fault");
        let stopped = server.stopped_by(Signal::SIGKILL);
        if rand::random() {
            killed_while_starting(&stopped);
        }
        let started = Instant::now();
        server = stopped.start();
        longest_start = longest_start.max(started.elapsed());
        load.check(&server, &sent);
        load.send_again(&server, &sent);
        answered += sent.answered.len();
    }
    println!(
        "{kills} kills: {answered} plants answered, {} kept, the longest start {longest_start:?}",
        load.kept(),
    );
}

#[test]
fn sigterm_leaves_no_stored_plant_unanswered() {
    let stops = amount(3, 100);
    let (mut load, mut server) = (Load::default(), Server::start());
    for _ in 0..stops {
        let mut sent = load.run(&server, |progress| {
            progress.wait_for_answers(&server, rand::random_range(0..=ANSWERS));
            server.signal(Signal::SIGTERM);
        });
        assert!(sent.failed.is_empty() && sent.refused.is_empty(), "the store had no fault");
        let (status, stopped) = server.ended();
        assert_eq!(status.code(), Some(0));
        let log = stopped.folder().join(LOG);
        assert!(!fs::exists(log).expect("the folder can be read"), "the store is closed");
        server = stopped.start();
        // What was not answered was not taken.
        sent.unanswered.clear();
        load.check(&server, &sent);
    }
    println!("{stops} stops: {} plants answered and kept", load.kept());
}
