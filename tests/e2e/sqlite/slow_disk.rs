//! Token commands on a slow disk, while clients create plants without a pause. SQLite's write lock
//! has no queue, and the server's writer keeps taking it.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use plant_store_tests::{Server, binary_in, plant};

use crate::hard_to_kill::disk;

const CLIENTS: usize = 64;

/// Runs `work` while clients create plants without a pause. Returns the longest time of a create.
fn under_load(server: &Server, work: impl FnOnce()) -> Duration {
    let next = AtomicI64::new(1);
    let stop = AtomicBool::new(false);
    let create = || {
        let mut connection = server.connect();
        let mut longest = Duration::ZERO;
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

/// Runs a command on the slow disk. Returns how long it took, or its stderr if it failed.
fn run(server: &Server, words: &[&str]) -> Result<Duration, String> {
    let mut command = binary_in(server.folder());
    disk::preload(&mut command);
    let began = Instant::now();
    let output = command.args(words).output().expect("the binary starts");
    let took = began.elapsed();
    if !output.status.success() {
        return Err(format!("{words:?}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(took)
}

/// Ten operators run four commands each. Every command takes at least two seconds, because it waits
/// for the lease of the tokens to expire.
#[test]
fn token_commands_succeed_under_constant_load() {
    let server = disk::start();
    disk::slow_down(server.folder(), 50);
    let operate = |name: String| {
        let words = ["create", "revoke", "create", "revoke"];
        words.map(|word| run(&server, &["token", word, &name]).expect("the command succeeds"))
    };
    let mut times = Vec::new();
    let longest_create = under_load(&server, || {
        thread::scope(|scope| {
            let operate = &operate;
            let start = |name| scope.spawn(move || operate(format!("ci{name}")));
            let operators: Vec<_> = (0..10).map(start).collect();
            for operator in operators {
                times.extend(operator.join().expect("the operator ran"));
            }
        });
    });
    times.sort();
    let median = times[times.len() / 2];
    let longest = times[times.len() - 1];
    println!("{} commands: median {median:?}, longest {longest:?}", times.len());
    println!("longest create: {longest_create:?}");
}
