//! More creates, bytes and connections than the service can take. It refuses what is too much,
//! loses no plant that it answered with 200, and recovers by itself.

use std::collections::BTreeSet;
use std::net::TcpStream;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, Weak};
use std::thread;
use std::time::Duration;

use plant_store_tests::process::memory_mib;
use plant_store_tests::{Server, amount, head, plant};

use crate::connections::{Crowd, create_late};
use crate::database;
use crate::metrics::{metrics_address, scrape, series};

/// The ids that were answered with 200, and those that were answered with 503.
#[derive(Default)]
struct Answered {
    created: Mutex<BTreeSet<i64>>,
    refused: Mutex<BTreeSet<i64>>,
}

fn count(ids: &Mutex<BTreeSet<i64>>) -> usize {
    ids.lock().expect("no client panics").len()
}

/// A plant of 60 kB, so that waiting creates take memory that can be measured.
fn large_plant(id: i64) -> String {
    plant(id, &"Ficus ".repeat(10_000), None)
}

/// Creates one plant after the other for as long as the flood runs.
fn create(server: &Server, next: &AtomicI64, flood: &Weak<()>, answered: &Answered) {
    let mut connection = server.connect();
    while flood.strong_count() > 0 {
        let id = next.fetch_add(1, Relaxed);
        let answer = connection.exchange(&server.post(&large_plant(id)));
        let ids = if answer.status == 200 {
            answer.plant();
            &answered.created
        } else {
            assert_eq!(answer.refusal().0, 503);
            assert_eq!(answer.header("retry-after"), Some("1"));
            &answered.refused
        };
        ids.lock().expect("no client panics").insert(id);
    }
}

/// The test takes the store's write lock and releases it, many times, so that the queue fills and
/// empties. Creates that find it full are refused while the test still holds the lock.
#[test]
fn overflowing_queue_is_503_and_recovers() {
    const CLIENTS: usize = 64;
    let server = Server::starting().with(&["--queue", "8"]).start();
    let (next, answered) = (AtomicI64::new(1), Answered::default());
    thread::scope(|scope| {
        let flood = Arc::new(());
        for _ in 0..CLIENTS {
            let flood = Arc::downgrade(&flood);
            scope.spawn(|| create(&server, &next, &{ flood }, &answered));
        }
        for _ in 0..amount(3, 50) {
            let lock = database::locked(&server);
            let refused = count(&answered.refused) + amount(100, 1000);
            server.wait_until("creates are refused", || count(&answered.refused) >= refused);
            drop(lock);
            let created = count(&answered.created) + 100;
            server.wait_until("the creates that waited are answered", || {
                count(&answered.created) >= created
            });
        }
    });
    let created = answered.created.into_inner().expect("no client panics");
    let refused = answered.refused.into_inner().expect("no client panics");
    let peak = memory_mib(server.pid(), "VmHWM").expect("the process is there");
    println!("{} created, {} refused, peak {peak:.0} MiB", created.len(), refused.len());
    assert!(peak < 128.0, "{peak} MiB");
    assert_eq!(server.export().into_keys().collect::<BTreeSet<_>>(), created);
    let mut connection = server.connect();
    for id in refused {
        connection.exchange(&server.post(&large_plant(id))).plant();
    }
}

/// The client announces 10 GB, or sends chunks without end. It can send no more than the limit and
/// what the buffers of two sockets hold.
#[test]
fn endless_body_is_413_after_the_limit() {
    const CHUNK: usize = 0x4000;
    const BUFFERS: usize = 32 * 1024 * 1024;
    // Enough for all of them at once.
    let server = Server::starting().with(&["--max-bodies", "128MiB"]).start();
    let chunk = [format!("{CHUNK:x}\r\n").as_bytes(), &[b' '; CHUNK], b"\r\n"].concat();
    let chunk = &chunk;
    thread::scope(|scope| {
        for framing in ["Content-Length: 10000000000\r\n", "Transfer-Encoding: chunked\r\n"] {
            for _ in 0..amount(4, 64) {
                let headers = format!("Content-Type: application/json\r\n{framing}");
                let mut connection = server.connect();
                connection.send(head(&(server.bearer() + &headers)).as_bytes());
                scope.spawn(move || {
                    let mut taken = 0;
                    while taken < BUFFERS && connection.try_send(chunk) {
                        taken += chunk.len();
                    }
                    assert!(taken < BUFFERS, "the service took {taken} bytes");
                    assert_eq!(connection.receive().refusal().0, 413);
                    assert!(connection.is_closed());
                });
            }
        }
    });
    let peak = memory_mib(server.pid(), "VmHWM").expect("the process is there");
    println!("peak {peak:.0} MiB");
    assert!(peak < 256.0, "{peak} MiB");
    server.create(&plant(1, "Ficus", None)).plant();
}

/// Clients get half of what a low limit leaves, and operators the rest.
#[test]
fn low_hard_limit_on_open_files_leaves_connections_to_clients_and_operators() {
    let starting = Server::starting().with(&["--metrics", "127.0.0.1:0"]);
    let server = starting.with_open_files("-n 64").start();
    server.create(&plant(1, "Ficus", None)).plant();
    let _crowd = Crowd::of(64, server.address);
    server.wait_for_log("connection limit reached");
    let scrape = scrape(metrics_address(&server));
    let connections = series(&scrape)["plant_store_connections"].parse::<usize>();
    assert!(connections.expect("a number") >= 10, "clients get their half");
}

/// A connection waits to be accepted until another one ends. Meanwhile, the open connections are
/// served, and the store is written, because its files are open already.
#[test]
fn connections_past_the_hard_limit_on_open_files_wait_and_are_served_later() {
    const FILES: usize = 160;
    let server = Server::starting().with_open_files(&format!("-n {FILES}")).start();
    server.wait_for_log("allows fewer than --max-connections");
    let mut early = server.connect();
    early.exchange(&server.post(&plant(0, "Ficus", None))).plant();
    for id in 1..=i64::try_from(amount(2, 10)).expect("fewer than 2^63") {
        let crowd = Crowd::of(FILES, server.address);
        server.wait_until("a shut door", || {
            TcpStream::connect_timeout(&server.address, Duration::from_millis(100)).is_err()
        });
        thread::scope(|scope| {
            let late = scope.spawn(|| create_late(&server, &plant(id, "Ficus", None)));
            early.exchange(&server.post(&plant(-id, "Ficus", None))).plant();
            assert!(!late.is_finished());
            drop(crowd);
            late.join().expect("an answer");
        });
    }
}
