//! The server is stopped under load at random moments, many times. After each restart the store
//! holds every plant that was answered with 200, byte for byte, and none that was not sent.

use std::fs;

use nix::sys::signal::Signal;
use plant_store_tests::{Server, amount};

use super::load::Load;
use crate::database::WAL;

/// A server is stopped after a random number of answers, at most this many.
const MAX_ANSWERS: usize = 200;

#[test]
fn sigkill_loses_no_acknowledged_plant_and_invents_none() {
    let kills = amount(5, 500);
    let (mut load, mut server) = (Load::default(), Server::start());
    let mut answered = 0;
    for _ in 0..kills {
        let sent = load.run(&server, |progress| {
            progress.wait_for_answers(&server, rand::random_range(0..=MAX_ANSWERS));
            server.signal(Signal::SIGKILL);
        });
        assert!(sent.failed.is_empty() && sent.refused.is_empty(), "the store had no fault");
        server = server.stopped_by(Signal::SIGKILL).start();
        load.check(&server, &sent);
        load.send_again(&server, &sent);
        answered += sent.answered.len();
    }
    println!("{kills} kills: {answered} plants answered, {} kept", load.kept());
}

#[test]
fn sigterm_leaves_no_stored_plant_unanswered() {
    let stops = amount(3, 100);
    let (mut load, mut server) = (Load::default(), Server::start());
    for _ in 0..stops {
        let mut sent = load.run(&server, |progress| {
            progress.wait_for_answers(&server, rand::random_range(0..=MAX_ANSWERS));
            server.signal(Signal::SIGTERM);
        });
        assert!(sent.failed.is_empty() && sent.refused.is_empty(), "the store had no fault");
        let (status, stopped) = server.ended();
        assert_eq!(status.code(), Some(0));
        let wal = stopped.folder().join(WAL);
        assert!(!fs::exists(wal).expect("the folder can be read"), "the store is closed");
        server = stopped.start();
        // A plant that was not answered must not be stored.
        sent.unanswered.clear();
        load.check(&server, &sent);
    }
    println!("{stops} stops: {} plants answered and kept", load.kept());
}
