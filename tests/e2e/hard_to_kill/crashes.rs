//! The server is stopped under load at random moments, many times. After each restart the store
//! contains every acknowledged plant, byte for byte, and no plant that was never sent.

use std::fs;

use nix::sys::signal::Signal;
use plant_store_tests::{Server, amount};

use super::load::{Answer, Load, Sent, count};
use crate::database::WAL;

/// The maximum number of answers before the server is stopped.
const MAX_ANSWERS: usize = 200;

/// Sends the server a signal under load, after a random number of answers.
fn end_under_load(load: &Load, server: &Server, signal: Signal) -> Sent {
    let sent = load.run_to_end(server, |progress| {
        progress.wait_for(rand::random_range(0..=MAX_ANSWERS), Answer::Created);
        server.signal(signal);
    });
    assert_eq!(
        [Answer::Failed, Answer::Refused].map(|kind| count(&sent, kind)),
        [0, 0],
        "the store had no fault"
    );
    sent
}

#[test]
fn sigkill_loses_no_acknowledged_plant_and_invents_none() {
    let mut load = Load::default();
    let mut server = Server::start();
    for _ in 0..amount(5, 500) {
        let sent = end_under_load(&load, &server, Signal::SIGKILL);
        server = server.stopped_by(Signal::SIGKILL).start();
        load.check(&server, &sent);
    }
}

#[test]
fn sigterm_leaves_no_stored_plant_unanswered() {
    let mut load = Load::default();
    let mut server = Server::start();
    for _ in 0..amount(3, 100) {
        let mut sent = end_under_load(&load, &server, Signal::SIGTERM);
        let (status, stopped) = server.ended();
        assert_eq!(status.code(), Some(0));
        let wal = stopped.folder().join(WAL);
        assert!(!fs::exists(wal).expect("the folder can be read"), "the store was closed");
        server = stopped.start();
        // A plant without an answer must not be stored.
        sent.retain(|attempt| attempt.answer != Answer::Lost);
        load.check(&server, &sent);
    }
}
