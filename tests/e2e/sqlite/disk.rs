//! Disks that fail, are full or hang. The process exits after a failed fsync: the kernel may have
//! marked the lost pages clean. So the next process copies the WAL into the file, syncs it and
//! starts a new WAL before it answers. Creates are refused while a disk is full or hangs.

use plant_store_tests::prelude::*;
use plant_store_tests::process::signalled;

use crate::database::{self, STORE, WAL};
use crate::hard_to_kill::disk::{self, FOLDER};

#[test]
fn failed_fsync_of_a_commit_answers_500_and_exits_1() {
    let mut server = disk::start();
    // The test write after the start may come between the first two creates.
    server.create(&plant(1, "Ficus", None)).plant();
    server.create(&plant(2, "Ficus", None)).plant();
    disk::order(server.folder(), "sync-fails", WAL);
    assert_eq!(server.create(&plant(3, "Fern", None)).error(), 500);
    assert_eq!(server.wait().code(), Some(1));
    let log = server.log();
    assert!(log.contains("the store is lost: stopping"), "{log}");
    let last = "plant-store: an fsync of the store failed; the next start checkpoints and syncs \
                the store";
    assert_eq!(log.lines().last(), Some(last));
    let (_, stopped) = server.ended();
    disk::withdraw(stopped.folder(), "sync-fails", WAL);

    // The kernel still has the pages in memory, so the next process finds the plant. That process
    // must make the plant durable before it answers 200.
    let server = disk::start_again(stopped);
    server.create(&plant(3, "Fern", None)).plant();
    let stopped = server.stopped_by(Signal::SIGKILL);
    disk::cut_power(stopped.folder());
    assert!(disk::start_again(stopped).export().into_keys().eq([1, 2, 3]));
}

/// Without this fsync a power cut could remove the store's name from the folder. SQLite does not
/// report the failure.
#[test]
fn serve_fails_if_the_fsync_of_the_folder_fails() {
    let server = disk::start();
    disk::order(server.folder(), "sync-fails", FOLDER);
    let stopped = server.stopped_by(Signal::SIGTERM);
    let mut serve = binary_in(stopped.folder());
    serve.arg("serve");
    disk::preload(&mut serve);
    let cause = "cannot copy the store's WAL into its file: Input/output error";
    run(&mut serve).failed(1, cause);
    disk::withdraw(stopped.folder(), "sync-fails", FOLDER);
    disk::start_again(stopped).create(&plant(1, "Ficus", None)).plant();
}

#[test]
fn create_on_a_full_disk_is_503_until_there_is_space() {
    let server = disk::start();
    server.create(&plant(1, "Ficus", None)).plant();
    disk::order(server.folder(), "write-fails", WAL);
    for _ in 0..2 {
        let answer = server.create(&plant(2, "Fern", None));
        assert_eq!(answer.error(), 503);
        assert_eq!(answer.header("retry-after"), Some("1"));
    }
    server.wait_for_log("the store does not take writes: database or disk is full");
    disk::withdraw(server.folder(), "write-fails", WAL);
    server.create(&plant(2, "Fern", None)).plant();
    server.wait_for_log("the store takes writes again");
    let warnings = server.log().matches(r#""msg":"the store does not take writes""#).count();
    assert_eq!(warnings, 1, "a lasting failure is logged once, not for each create");
    let server = disk::start_again(server.stopped_by(Signal::SIGKILL));
    assert!(server.export().into_keys().eq([1, 2]));
}

/// A command has nothing to clean up, so the signal's default action ends the process.
#[test]
fn sigterm_ends_a_process_on_a_hanging_disk() {
    let rows = [
        ("serve", "read-hangs", STORE),
        ("serve", "sync-hangs", WAL),
        ("export", "read-hangs", STORE),
    ];
    each_row(rows, |(words, fault, file)| {
        let stopped = Server::start().stopped_by(Signal::SIGTERM);
        let folder = stopped.folder();
        disk::put_on_disk(folder);
        disk::order(folder, fault, file);
        let mut command = binary_in(folder);
        disk::preload(&mut command);
        let hangs = || disk::wait_until_it_hangs(folder, file);
        let ended = signalled(command.args(words.split(' ')), hangs, Signal::SIGTERM);
        assert_eq!(ended.signal, Some(Signal::SIGTERM as i32), "{ended:?}");
    });
}

/// `a` is revoked, and `b` is not. The server may accept `a` until the command returns, but not
/// afterwards.
#[test]
fn partly_failed_revocation_revokes_the_earlier_tokens() {
    let server = Server::start();
    let one = server.run("token create a").succeeded();
    server.run("token create b").succeeded();
    database::execute(
        &server,
        "CREATE TRIGGER keep_b BEFORE DELETE ON tokens WHEN old.name = 'b'
        BEGIN SELECT RAISE(ABORT, 'b stays'); END",
    );
    let revoked = server.run("token revoke a b");
    revoked.expect(1, "", "b stays");
    assert!(revoked.stderr.starts_with("revoked a in sqlite:"), "{revoked:?}");
    let answer = server.create_with(&bearer(one.trim()), &plant(1, "Ficus", None));
    assert_eq!(answer.error(), 401);
}
