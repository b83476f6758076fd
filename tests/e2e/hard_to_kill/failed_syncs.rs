//! A sync that fails is the last: the process ends, and the next one trusts no page that the
//! kernel only calls clean.

use std::process::Command;

use nix::sys::signal::Signal;
use plant_store_tests::{Server, amount, binary, failure, plant};

use super::disk::{self, FOLDER};
use super::load::{Load, Sent};
use crate::database::{LOG, STORE};

/// At most after how many answers a sync fails, or the power.
const ANSWERS: usize = 100;

/// The process has ended with a clear last word.
fn assert_last_word(server: &mut Server) {
    assert_eq!(server.wait().code(), Some(1));
    let log = server.log();
    assert!(log.contains("the store failed to sync: stopping"), "{log}");
    let last = log.lines().last().expect("a last word");
    assert_eq!(
        last,
        "plant-store: a sync of the store failed; a restart reads what is on the disk"
    );
}

#[test]
fn failed_fsync_of_a_commit_answers_500_and_exits_1() {
    let mut server = disk::start();
    server.create(&plant(1, "Ficus", None)).plant();
    disk::fail(&server, "sync", LOG);
    assert_eq!(server.create(&plant(2, "Fern", None)).refusal().0, 500);
    assert_last_word(&mut server);
    let (_, stopped) = server.ended();
    disk::mend(stopped.folder(), "sync", LOG);

    // The kernel still has what it could not write, so the plant is there; and whoever is told so
    // can rely on it.
    let server = disk::start_again(stopped);
    server.create(&plant(2, "Fern", None)).plant();
    let stopped = server.stopped_by(Signal::SIGKILL);
    disk::cut_power(&stopped);
    let server = disk::start_again(stopped);
    assert_eq!(server.export().into_keys().collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn failed_fsync_of_a_checkpoint_exits_1() {
    let mut server = disk::start();
    disk::fail(&server, "sync", STORE);
    // Each fills pages of its own: soon the log is long enough to be copied.
    let long = "x".repeat(64 * 1024);
    let mut connection = server.connect();
    let answered: Vec<_> = (0..1000)
        .take_while(|id| {
            connection.try_send(&server.post(&plant(*id, &long, None)))
                && connection.try_receive().is_some_and(|answer| answer.status == 200)
        })
        .collect();
    assert!(answered.len() > 10);
    assert_last_word(&mut server);
    let (_, stopped) = server.ended();
    disk::mend(stopped.folder(), "sync", STORE);
    disk::cut_power(&stopped);
    let server = disk::start_again(stopped);
    assert!(server.export().into_keys().eq(answered));
}

/// A power cut could take the store's name, and SQLite would not have said so.
#[test]
fn failed_fsync_of_the_folder_refuses_to_serve() {
    let server = disk::start();
    disk::fail(&server, "sync", FOLDER);
    let stopped = server.stopped_by(Signal::SIGTERM);
    let mut serve = Command::new(binary());
    serve.args(["serve", "--listen", "127.0.0.1:0"]).current_dir(stopped.folder());
    disk::put_under(&mut serve);
    let (status, said) = failure(&mut serve);
    assert_eq!(status, Some(1));
    assert!(said.contains("cannot renew the store's log: Input/output error"), "{said}");

    disk::mend(stopped.folder(), "sync", FOLDER);
    disk::start_again(stopped).create(&plant(1, "Ficus", None)).plant();
}

/// Syncs fail under load, and the machine loses its power: before the restart, and once more
/// after those who got no plant were told that it is there.
#[test]
fn failed_fsyncs_and_power_cuts_lose_no_acknowledged_plant() {
    let rounds = amount(3, 100);
    let (mut load, mut server) = (Load::default(), disk::start());
    let mut failed = 0;
    for _ in 0..rounds {
        let sync_fails = rand::random();
        let sent = load.run(&server, |progress| {
            progress.wait_for_answers(&server, rand::random_range(0..=ANSWERS));
            match sync_fails {
                true => disk::fail(&server, "sync", LOG),
                false => server.signal(Signal::SIGKILL),
            }
        });
        let (status, mut stopped) = server.ended();
        assert!(sent.failed.is_empty() || sync_fails, "{:?}", sent.failed);
        if sync_fails {
            assert_eq!(status.code(), Some(1));
            disk::mend(stopped.folder(), "sync", LOG);
            failed += 1;
        }
        if rand::random() {
            disk::cut_power(&stopped);
        }
        server = disk::start_again(stopped);
        load.check(&server, &sent);
        load.send_again(&server, &sent);
        stopped = server.stopped_by(Signal::SIGKILL);
        disk::cut_power(&stopped);
        server = disk::start_again(stopped);
        load.check(&server, &Sent::default());
    }
    println!("{failed} failed syncs, {rounds} power cuts and more: {} plants kept", load.kept());
}
