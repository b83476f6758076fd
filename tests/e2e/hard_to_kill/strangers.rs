//! Clients that send as much as they can, with and without a token. At the same time honest
//! clients, which connected before the flood, create plants without a refusal. Every answer is
//! declared by the contract, no acknowledged plant is lost, and the memory stays within the formula
//! of server/README.md.

use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use plant_store_tests::process::allow_many_files;
use plant_store_tests::{Connection, Server, amount, head, plant};

use super::memory::assert_peak;

const HONEST: usize = 8;

/// A flood. Each thread repeats it until the time is up.
type Flood = fn(&Server, &AtomicBool);

fn duration() -> Duration {
    Duration::from_millis(amount(500, 5000) as u64)
}

/// Lets the honest clients create plants, each one after the other, until the time is up. Returns
/// the number of plants.
fn honest(server: &Server, clients: &mut [Connection], next: &AtomicI64) -> usize {
    let end = Instant::now() + duration();
    let create = |connection: &mut Connection| {
        let mut created = 0;
        while Instant::now() < end {
            let id = next.fetch_add(1, Relaxed);
            connection.exchange(&server.post(&plant(id, "Ficus", None))).plant();
            created += 1;
        }
        created
    };
    thread::scope(|scope| {
        let start = |client| scope.spawn(move || create(client));
        let creating: Vec<_> = clients.iter_mut().map(start).collect();
        creating.into_iter().map(|client| client.join().expect("an honest client")).sum()
    })
}

/// Runs the flood in `threads` threads while honest clients create plants. The server may have
/// `files` open files.
fn run_beside(flags: &[&str], files: usize, threads: usize, flood: Flood) {
    allow_many_files().expect("the soft limit can be raised");
    let starting = Server::starting().with(flags);
    let server = starting.with_open_files(&format!("-n {files}")).start();
    let next = AtomicI64::new(1);
    let stop = AtomicBool::new(false);
    let mut clients: Vec<_> = (0..HONEST).map(|_| server.connect()).collect();
    let alone = honest(&server, &mut clients, &next);
    let created = thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while !stop.load(Relaxed) {
                    flood(&server, &stop);
                }
            });
        }
        let created = honest(&server, &mut clients, &next);
        stop.store(true, Relaxed);
        created
    });
    println!("{alone} creates alone, {created} beside the flood");
    // 1024 is the default of --max-creates.
    assert_peak(&server, files, 1024);
    let stored = server.export();
    let ids = 1..next.into_inner();
    assert!(ids.into_iter().all(|id| stored.contains_key(&id)), "a plant was lost");
}

/// Sends the same request as fast as it can, many at a time.
fn pipelined(server: &Server, stop: &AtomicBool, request: &str, status: u16) {
    const AT_ONCE: usize = 50;
    let mut connection = server.connect();
    while !stop.load(Relaxed) {
        connection.send(request.repeat(AT_ONCE).as_bytes());
        for _ in 0..AT_ONCE {
            assert_eq!(connection.receive().status, status);
        }
    }
}

/// Dropshot's router refuses one kind of request, and the operation the other, both without the
/// store.
#[test]
fn pipelined_refusals_do_not_starve_honest_clients() {
    let without_token: Flood =
        |server, stop| pipelined(server, stop, &head("Content-Length: 0\r\n"), 400);
    let other_path: Flood = |server, stop| {
        let request = format!("GET /{} HTTP/1.1\r\nHost: plants\r\n\r\n", "x".repeat(1000));
        pipelined(server, stop, &request, 404);
    };
    for flood in [without_token, other_path] {
        run_beside(&[], 512, 4, flood);
    }
}

/// A third of the clients send nothing. A third send part of a head, and a third part of a body;
/// then both go on byte by byte.
#[test]
fn hundreds_of_slow_clients_do_not_starve_honest_clients() {
    run_beside(&["--max-creates", "2048"], 3000, 1, |server, stop| {
        let length = "Content-Type: application/json\r\nContent-Length: 1000\r\n";
        let body = head(&(server.bearer() + length));
        let starts = ["", "POST /plants HTTP/1.1\r\nX: ", &body];
        let mut clients: Vec<_> = (0..amount(600, 2001)).map(|_| server.connect()).collect();
        for (client, start) in clients.iter_mut().zip(starts.iter().cycle()) {
            client.send(start.as_bytes());
        }
        // Connections are accepted in order, so after this answer all the others are accepted, too.
        server.create(&plant(-1, "Ficus", None)).plant();
        while !stop.load(Relaxed) {
            thread::sleep(Duration::from_millis(100));
            for (number, client) in clients.iter_mut().enumerate() {
                let _ = number % 3 == 0 || client.try_send(b" ");
            }
        }
    });
}

/// Each client sends a head that never ends. Two threads run this, and their connections together
/// are fewer than the allowed open files.
fn endless_heads(server: &Server, stop: &AtomicBool) {
    let patience = Duration::from_millis(200);
    let connect = |_| {
        let stream = TcpStream::connect_timeout(&server.address, patience).ok()?;
        stream.set_write_timeout(Some(patience)).expect("a timeout can be set");
        Some(stream)
    };
    let mut heads: Vec<_> = (0..amount(100, 230)).filter_map(connect).collect();
    let piece = format!("X: {}\r\n", "x".repeat(16_000));
    let start = "POST /plants HTTP/1.1\r\nHost: plants\r\n";
    for bytes in [start].into_iter().chain([&*piece; 24]) {
        for head in &mut heads {
            if stop.load(Relaxed) {
                return;
            }
            let _ = head.write_all(bytes.as_bytes());
        }
    }
}

#[test]
fn hundreds_of_endless_heads_fit_the_memory_formula() {
    run_beside(&[], 512, 2, endless_heads);
}
