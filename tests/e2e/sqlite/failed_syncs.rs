//! Failed fsyncs. The process exits after one: the kernel may have marked the lost pages clean. So
//! the next process copies the WAL into the file, syncs it and starts a new WAL before it answers.

use nix::sys::signal::Signal;
use plant_store_tests::{Server, amount, binary_in, failure, plant};

use crate::database::{STORE, WAL};
use crate::hard_to_kill::disk::{self, FOLDER};
use crate::hard_to_kill::load::{Answer, Load, Sent, count};

/// The maximum number of answers before a sync fails or the server is killed.
const MAX_ANSWERS: usize = 100;

/// Asserts that the process has exited because of the failed fsync, and that its last line says so.
fn assert_exited_after_failed_fsync(server: &mut Server) {
    assert_eq!(server.wait().code(), Some(1));
    let log = server.log();
    assert!(log.contains("the store is lost: stopping"), "{log}");
    let last = log.lines().last().expect("a last line");
    assert_eq!(
        last,
        "plant-store: an fsync of the store failed; a restart reads what is on the disk"
    );
}

#[test]
fn failed_fsync_of_a_commit_answers_500_and_exits_1() {
    let mut server = disk::start();
    // The test write after the start may come between the first two creates.
    server.create(&plant(1, "Ficus", None)).plant();
    server.create(&plant(2, "Ficus", None)).plant();
    disk::fail(&server, "sync", WAL);
    assert_eq!(server.create(&plant(3, "Fern", None)).error(), 500);
    assert_exited_after_failed_fsync(&mut server);
    let (_, stopped) = server.ended();
    disk::stop_failing(stopped.folder(), "sync", WAL);

    // The kernel still has the pages in memory, so the next process finds the plant. That process
    // must make the plant durable before it answers 200.
    let server = disk::start_again(stopped);
    server.create(&plant(3, "Fern", None)).plant();
    let stopped = server.stopped_by(Signal::SIGKILL);
    disk::cut_power(&stopped);
    let server = disk::start_again(stopped);
    assert_eq!(server.export().into_keys().collect::<Vec<_>>(), [1, 2, 3]);
}

/// The power is cut after the restart.
#[test]
fn failed_fsync_of_a_checkpoint_exits_1_and_loses_nothing() {
    let mut server = disk::start();
    disk::fail(&server, "sync", STORE);
    // Each plant fills several pages, so the WAL is soon long enough for a checkpoint.
    let long = "x".repeat(60_000);
    let mut connection = server.connect();
    let mut answered: Vec<_> = (0..1000)
        .take_while(|id| {
            connection.try_send(&server.post(&plant(*id, &long, None)))
                && connection.try_receive().is_some_and(|answer| answer.status == 200)
        })
        .collect();
    assert!(answered.len() > 10);
    assert_exited_after_failed_fsync(&mut server);
    let (_, stopped) = server.ended();
    disk::stop_failing(stopped.folder(), "sync", STORE);
    // The kernel may have pages of the file that are not on the disk: the next process copies them
    // again.
    let server = disk::start_again(stopped);
    server.create(&plant(1000, "Ficus", None)).plant();
    answered.push(1000);
    let stopped = server.stopped_by(Signal::SIGKILL);
    disk::cut_power(&stopped);
    let server = disk::start_again(stopped);
    assert!(server.export().into_keys().eq(answered));
}

/// The revocation is written to the WAL behind the pages of the failed fsync.
#[test]
fn revocation_after_a_failed_fsync_survives_a_power_cut() {
    let mut server = disk::start();
    // Otherwise the failed fsync could be the fsync of the WAL's header, with nothing behind it, or
    // the fsync of the test write after the start, which is over after two creates.
    server.create(&plant(0, "Rose", None)).plant();
    server.create(&plant(0, "Rose", None)).plant();
    disk::fail(&server, "sync", WAL);
    assert_eq!(server.create(&plant(1, "Ficus", None)).error(), 500);
    assert_exited_after_failed_fsync(&mut server);
    let (_, stopped) = server.ended();
    disk::stop_failing(stopped.folder(), "sync", WAL);
    let mut revoke = binary_in(stopped.folder());
    revoke.args(["token", "revoke", "first"]);
    disk::preload(&mut revoke);
    assert!(revoke.status().expect("it runs").success());
    disk::cut_power(&stopped);
    let server = disk::start_again(stopped);
    assert_eq!(server.create(&plant(2, "Fern", None)).error(), 401);
}

/// Without this fsync a power cut could remove the store's name from the folder. SQLite does not
/// report the failure.
#[test]
fn serve_fails_if_the_fsync_of_the_folder_fails() {
    let server = disk::start();
    disk::fail(&server, "sync", FOLDER);
    let stopped = server.stopped_by(Signal::SIGTERM);
    let mut serve = binary_in(stopped.folder());
    serve.arg("serve");
    disk::preload(&mut serve);
    let (status, stderr) = failure(&mut serve);
    assert_eq!(status, Some(1));
    assert!(
        stderr.contains("cannot copy the store's WAL into its file: Input/output error"),
        "{stderr}"
    );

    disk::stop_failing(stopped.folder(), "sync", FOLDER);
    disk::start_again(stopped).create(&plant(1, "Ficus", None)).plant();
}

/// Fsyncs fail under load, and the power is cut: in about half of the rounds before the restart,
/// and in every round once more, after all plants without a 200 were sent again and acknowledged.
#[test]
fn failed_fsyncs_and_power_cuts_lose_no_acknowledged_plant() {
    let mut load = Load::default();
    let mut server = disk::start();
    for _ in 0..amount(3, 100) {
        let sync_fails = rand::random();
        let sent = load.run_to_end(&server, |progress| {
            progress.wait_for(rand::random_range(0..=MAX_ANSWERS), Answer::Created);
            if sync_fails {
                disk::fail(&server, "sync", WAL);
            } else {
                server.signal(Signal::SIGKILL);
            }
        });
        let (status, mut stopped) = server.ended();
        assert!(count(&sent, Answer::Failed) == 0 || sync_fails);
        if sync_fails {
            assert_eq!(status.code(), Some(1));
            disk::stop_failing(stopped.folder(), "sync", WAL);
        }
        if rand::random() {
            disk::cut_power(&stopped);
        }
        server = disk::start_again(stopped);
        load.check(&server, &sent);
        stopped = server.stopped_by(Signal::SIGKILL);
        disk::cut_power(&stopped);
        server = disk::start_again(stopped);
        load.check(&server, &Sent::default());
    }
}
