//! Disks that fail or hang: a library between the real binary and the kernel, `faulty_disk.c`,
//! simulates a disk that fails on command and can lose power. The model uses it, too.
//!
//! The process exits after a failed fsync: the kernel may have marked the lost pages clean. So the
//! next process copies the WAL into the file, syncs it and starts a new WAL before it answers.

use plant_store_tests::FAULTY_DISK;
use plant_store_tests::prelude::*;
use plant_store_tests::process::signalled;

use crate::database::{self, STORE, WAL, WAL_INDEX};

/// The name of the store's folder in calls of [`order`] and [`withdraw`].
const FOLDER: &str = "folder";

/// The folder beside the store in which the simulated disk keeps its state.
const DISK: &str = "disk";

/// Starts a server on a new store on the simulated disk.
fn start() -> Server {
    starting().start()
}

fn starting() -> Starting {
    let folder = TempDir::new().expect("a temporary folder");
    put_on_disk(folder.path());
    Server::starting_in(folder.into()).command(preload)
}

/// Puts a folder on the simulated disk: it is used by every process with [`preload`] in that
/// folder.
pub fn put_on_disk(folder: &Path) {
    fs::create_dir(folder.join(DISK)).expect("a folder");
}

/// Starts a server on a store that is on the simulated disk already.
fn start_again(stopped: Starting) -> Server {
    stopped.command(preload).start()
}

/// Loads the simulated disk into a process.
pub fn preload(command: &mut Command) {
    command.env("LD_PRELOAD", &*FAULTY_DISK).env("FAULTY_DISK", DISK);
}

/// Orders a fault from the disk, for example `sync-fails`: see `faulty_disk.c`.
fn order(folder: &Path, what: &str, file: &str) {
    fs::write(state(folder, what, file), "").expect("a file");
}

/// Ends a fault.
fn withdraw(folder: &Path, what: &str, file: &str) {
    fs::remove_file(state(folder, what, file)).expect("the fault was ordered");
}

/// Simulates a power cut: every write since the last successful sync is lost.
pub fn cut_power(folder: &Path) {
    for file in [STORE, WAL] {
        let synced = state(folder, "synced", file);
        if fs::exists(&synced).expect("the folder can be read") {
            fs::copy(synced, folder.join(file)).expect("a copy of the file");
        } else {
            remove(&folder.join(file));
        }
        remove(&state(folder, "unsynced", file));
    }
    remove(&folder.join(WAL_INDEX));
}

/// Returns the path of a file that tells the simulated disk, or the test, about a file of the
/// store.
pub fn state(folder: &Path, what: &str, file: &str) -> PathBuf {
    folder.join(DISK).join(format!("{what}.{file}"))
}

/// Removes a file if there is one.
fn remove(file: &Path) {
    if fs::exists(file).expect("the folder can be read") {
        fs::remove_file(file).expect("the file can be removed");
    }
}

#[test]
fn failed_fsync_of_a_commit_answers_500_and_exits_1() {
    let mut server = start();
    // The test write after the start may come between the first two creates.
    server.create(&plant(1, "Ficus", None)).plant();
    server.create(&plant(2, "Ficus", None)).plant();
    order(server.folder(), "sync-fails", WAL);
    assert_eq!(server.create(&plant(3, "Fern", None)).error(), 500);
    assert_eq!(server.wait().code(), Some(1));
    let log = server.log();
    assert!(log.contains("the store is lost: stopping"), "{log}");
    let last = log.lines().last().expect("a line");
    assert!(last.starts_with("plant-store: an fsync of the store failed: "), "{last}");
    assert!(last.ends_with("; the next start checkpoints and syncs the store"), "{last}");
    let (_, stopped) = server.ended();
    withdraw(stopped.folder(), "sync-fails", WAL);

    // The kernel still has the pages in memory, so the next process finds the plant. That process
    // must make the plant durable before it answers 200.
    let server = start_again(stopped);
    server.create(&plant(3, "Fern", None)).plant();
    let stopped = server.stopped_by(Signal::SIGKILL);
    cut_power(stopped.folder());
    assert!(start_again(stopped).export().into_keys().eq([1, 2, 3]));
}

/// Without this fsync a power cut could remove the store's name from the folder. SQLite does not
/// report the failure.
#[test]
fn serve_fails_if_the_fsync_of_the_folder_fails() {
    let server = start();
    order(server.folder(), "sync-fails", FOLDER);
    let stopped = server.stopped_by(Signal::SIGTERM);
    let mut serve = binary_in(stopped.folder(), "serve");
    preload(&mut serve);
    let cause = "cannot copy the store's WAL into its file: Input/output error";
    run(&mut serve).failed(1, cause);
    withdraw(stopped.folder(), "sync-fails", FOLDER);
    start_again(stopped).create(&plant(1, "Ficus", None)).plant();
}

/// No create is sent, so the thread that commits hangs while it looks for the store's files.
#[test]
fn ready_is_503_while_an_inspection_hangs() {
    let server = starting().with_admin().with(&["--store-timeout", "1s"]).start();
    server.wait_until("ready", || server.ready().0 == 200);
    // When the command returns, the server has read its change, so it has the tokens in its cache.
    server.run("token create ci").succeeded();
    order(server.folder(), "read-hangs", WAL);
    server.wait_until("503", || server.ready() == (503, "the store does not answer\n".into()));
    withdraw(server.folder(), "read-hangs", WAL);
    server.wait_until("ready again", || server.ready().0 == 200);
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
        put_on_disk(folder);
        order(folder, fault, file);
        let mut command = binary_in(folder, words);
        preload(&mut command);
        let hangs =
            || wait_until(|| state(folder, "hangs", file).exists(), || "nothing hangs".into());
        let ended = signalled(&mut command, hangs, Signal::SIGTERM);
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
