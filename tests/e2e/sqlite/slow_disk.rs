//! Commands that change the tokens, while clients create plants without a pause on a slow disk.
//! SQLite's write lock has no queue, and the server's writer takes it again and again.

use std::fs::File;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, fcntl};
use nix::libc::{F_RDLCK, SEEK_SET, flock};
use plant_store_tests::{Server, amount, binary_in, plant};

use crate::database::STORE;
use crate::hard_to_kill::disk;

const CLIENTS: usize = 64;

/// How long a command may take; after four seconds it would give up.
const IN_TIME: Duration = Duration::from_secs(2);

/// Works while clients create plants without a pause. Returns how long a create took at most.
fn under_load(server: &Server, work: impl FnOnce()) -> Duration {
    let (next, stop) = (AtomicI64::new(1), AtomicBool::new(false));
    let create = || {
        let (mut connection, mut longest) = (server.connect(), Duration::ZERO);
        while !stop.load(Relaxed) {
            let began = Instant::now();
            let plant = plant(next.fetch_add(1, Relaxed), "Ficus", None);
            connection.exchange(&server.post(&plant)).plant();
            longest = longest.max(began.elapsed());
        }
        longest
    };
    thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(create)).collect();
        server.wait_until("creates", || next.load(Relaxed) > 1000);
        work();
        stop.store(true, Relaxed);
        let longest = clients.into_iter().map(|client| client.join().expect("the client ran"));
        longest.max().expect("there are clients")
    })
}

/// Runs a command on the slow disk, and returns how long it took, or what it said.
fn run(server: &Server, words: &[&str]) -> Result<Duration, String> {
    let mut command = binary_in(server.folder());
    disk::preload(&mut command);
    let began = Instant::now();
    let output = command.args(words).output().expect("the binary starts");
    match output.status.success() {
        true => Ok(began.elapsed()),
        false => Err(format!("{words:?}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}

#[test]
fn token_commands_succeed_beside_creates_without_a_pause() {
    for milliseconds in [5, 20, 50].into_iter().skip(amount(2, 0)) {
        let server = disk::start();
        disk::slow_down(server.folder(), milliseconds);
        let mut runs = Vec::new();
        let longest = under_load(&server, || {
            for _ in 0..10 {
                runs.push(run(&server, &["token", "create", "ci"]));
                runs.push(run(&server, &["token", "list"]));
                runs.push(run(&server, &["token", "revoke", "ci"]));
            }
        });
        let times: Result<Vec<_>, _> = runs.into_iter().collect();
        let mut times = times.expect("every command succeeds");
        times.sort();
        let longest_command = times[times.len() - 1];
        println!(
            "fsync {milliseconds} ms, {} commands: median {:?}, longest {:?}; longest create {:?}",
            times.len(),
            times[times.len() / 2],
            longest_command,
            longest
        );
        assert!(longest_command < IN_TIME, "{longest_command:?}");
    }
}

/// The test takes the lock of a command, and keeps it. The server waits for it once, for two
/// seconds.
#[test]
fn command_that_hangs_delays_creates_once() {
    const LIMIT: Duration = Duration::from_millis(1900);
    let server = Server::start();
    let store = File::open(server.folder().join(STORE)).expect("the store");
    let lock = flock {
        l_type: F_RDLCK.try_into().expect("a small constant"),
        l_whence: SEEK_SET.try_into().expect("a small constant"),
        l_start: 1 << 23,
        l_len: 1,
        l_pid: 0,
    };
    fcntl(&store, FcntlArg::F_OFD_SETLK(&lock)).expect("the lock is free");
    let mut connection = server.connect();
    let mut create = |id| {
        let began = Instant::now();
        connection.exchange(&server.post(&plant(id, "Ficus", None))).plant();
        began.elapsed()
    };
    let mut ids = 0..;
    server.wait_until("a delayed create", || ids.next().map(&mut create) > Some(LIMIT));
    // The server looks ten times a second.
    let began = Instant::now();
    while began.elapsed() < LIMIT {
        assert!(ids.next().map(&mut create) < Some(LIMIT));
    }
    // The tokens are read all the time.
    server.command(&["token", "create", "ci"]);
}
