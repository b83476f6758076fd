//! Failed fsyncs. The process exits after one: the kernel may have marked the lost pages clean. So
//! the next process copies the WAL into the file, syncs it and starts a new WAL before it answers.

use nix::sys::signal::Signal;
use plant_store_tests::{Server, binary_in, failure, plant};

use crate::database::WAL;
use crate::hard_to_kill::disk::{self, FOLDER};

/// Asserts that the process has exited because of the failed fsync, and that its last line says so.
fn assert_exited_after_failed_fsync(server: &mut Server) {
    assert_eq!(server.wait().code(), Some(1));
    let log = server.log();
    assert!(log.contains("the store is lost: stopping"), "{log}");
    let last = log.lines().last().expect("a last line");
    assert_eq!(
        last,
        "plant-store: an fsync of the store failed; the next start checkpoints and syncs the store"
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
