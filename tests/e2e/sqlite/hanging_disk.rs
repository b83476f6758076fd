//! A disk that hangs. No create waits longer than `--store-timeout`, and every process that waits
//! for the disk can be stopped.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;

use nix::sys::signal::Signal;
use plant_store_tests::{Server, binary_in, plant, signalled};

use crate::database::{STORE, WAL};
use crate::hard_to_kill::disk;
use crate::metrics::{get, metrics_address};

/// The refused plants are stored later, because they were on their way to the disk.
#[test]
fn create_is_503_after_the_store_timeout_while_a_commit_hangs() {
    let flags = ["--store-timeout", "1s", "--metrics", "127.0.0.1:0"];
    let server = disk::start_with(&flags);
    let ready = || get(metrics_address(&server), "/ready").status;
    server.create(&plant(1, "Ficus", None)).plant();
    disk::hang(server.folder(), "sync", WAL);
    for id in 2..4 {
        let answer = server.create(&plant(id, "Fern", None));
        assert_eq!(answer.error(), 503);
        assert_eq!(answer.header("retry-after"), Some("1"));
    }
    assert_eq!(ready(), 503);

    disk::stop_hanging(server.folder(), "sync", WAL);
    server.wait_until("ready again", || ready() == 200);
    for id in 2..5 {
        server.create(&plant(id, "Fern", None)).plant();
    }
    assert!(server.export().into_keys().eq(1..5));
}

/// A system call that does not return, and the file that it operates on.
#[derive(Clone, Copy)]
struct HangingCall {
    call: &'static str,
    file: &'static str,
}

const READ: HangingCall = HangingCall { call: "read", file: STORE };
const SYNC: HangingCall = HangingCall { call: "sync", file: WAL };

/// Runs a command until the call hangs, and then sends the command a signal. Returns its stderr and
/// its exit status.
fn signalled_while(
    hanging: HangingCall,
    folder: &Path,
    words: &[&str],
    signal: Signal,
) -> (String, ExitStatus) {
    disk::put_on_disk(folder);
    disk::hang(folder, hanging.call, hanging.file);
    let mut command = binary_in(folder);
    disk::preload(&mut command);
    signalled(command.args(words), || disk::wait_until_it_hangs(folder, hanging.file), signal)
}

#[test]
fn first_signal_ends_a_server_starting_on_a_hanging_disk() {
    for (hanging, signal) in [(READ, Signal::SIGTERM), (SYNC, Signal::SIGINT)] {
        let server = Server::start().stopped_by(Signal::SIGTERM);
        let serve = ["serve", "--listen", "127.0.0.1:0"];
        let (log, status) = signalled_while(hanging, server.folder(), &serve, signal);
        assert_eq!(status.signal(), Some(signal as i32), "{log}");
    }
}

/// A command has nothing to clean up, so the signal's default action ends the process.
#[test]
fn first_signal_ends_a_command_on_a_hanging_disk() {
    let copy = format!("copy --from sqlite:{STORE} --to sqlite:copy.db --tokens none");
    for words in ["export", "check", &copy] {
        let server = Server::start().stopped_by(Signal::SIGTERM);
        let words: Vec<_> = words.split(' ').collect();
        let (_, status) = signalled_while(READ, server.folder(), &words, Signal::SIGTERM);
        assert_eq!(status.signal(), Some(Signal::SIGTERM as i32), "{words:?}");
    }
}
