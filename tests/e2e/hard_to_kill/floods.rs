//! More creates, bytes and connections than the service can take. It refuses what is too much,
//! loses no plant that it answered with 200, and recovers by itself.

use std::collections::BTreeSet;
use std::net::TcpStream;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, Weak};
use std::thread;
use std::time::Duration;

use plant_store_tests::{Server, amount, head, plant};

use super::memory::assert_peak;
use crate::connections::{Crowd, count, create_late};
use crate::database;
use crate::metrics::metrics_address;

/// The ids that were answered with 200, and those that were answered with 503.
#[derive(Default)]
struct Answered {
    created: Mutex<BTreeSet<i64>>,
    refused: Mutex<BTreeSet<i64>>,
}

fn number(ids: &Mutex<BTreeSet<i64>>) -> usize {
    ids.lock().expect("no client panics").len()
}

/// Creates one plant after the other for as long as the flood runs.
fn create(server: &Server, next: &AtomicI64, flood: &Weak<()>, answered: &Answered) {
    let mut connection = server.connect();
    while flood.strong_count() > 0 {
        let id = next.fetch_add(1, Relaxed);
        let answer = connection.exchange(&server.post(&plant(id, "Ficus", None)));
        let ids = if answer.status == 200 {
            answer.plant();
            &answered.created
        } else {
            assert_eq!((answer.refusal().0, answer.header("retry-after")), (503, Some("1")));
            &answered.refused
        };
        ids.lock().expect("no client panics").insert(id);
    }
}

/// The test takes the store's write lock and releases it, many times, so that the places are taken
/// and become free. Creates that find no place are refused while the test still holds the lock.
#[test]
fn creates_past_the_places_are_503_and_succeed_later() {
    const CLIENTS: usize = 64;
    let flags = ["--max-creates", "16", "--store-timeout", "1m"];
    let server = Server::starting().with(&flags).start();
    let (next, answered) = (AtomicI64::new(1), Answered::default());
    thread::scope(|scope| {
        let flood = Arc::new(());
        for _ in 0..CLIENTS {
            let flood = Arc::downgrade(&flood);
            scope.spawn(|| create(&server, &next, &{ flood }, &answered));
        }
        for _ in 0..amount(3, 50) {
            let lock = database::locked(&server);
            let refused = number(&answered.refused) + amount(100, 1000);
            server.wait_until("creates are refused", || number(&answered.refused) >= refused);
            drop(lock);
            let created = number(&answered.created) + 100;
            server.wait_until("the creates that waited are answered", || {
                number(&answered.created) >= created
            });
        }
    });
    let created = answered.created.into_inner().expect("no client panics");
    let refused = answered.refused.into_inner().expect("no client panics");
    println!("{} created, {} refused", created.len(), refused.len());
    assert_eq!(server.export().into_keys().collect::<BTreeSet<_>>(), created);
    let mut connection = server.connect();
    for id in refused {
        connection.exchange(&server.post(&plant(id, "Ficus", None))).plant();
    }
}

/// The client announces 10 GB, or sends chunks without end. It can send no more than the limit and
/// what the buffers of two sockets hold.
#[test]
fn endless_body_is_413_after_the_limit() {
    const CHUNK: usize = 0x4000;
    const BUFFERS: usize = 32 * 1024 * 1024;
    let server = Server::start();
    let chunk = [format!("{CHUNK:x}\r\n").as_bytes(), &[b' '; CHUNK], b"\r\n"].concat();
    let (chunk, clients) = (&chunk, amount(4, 64));
    thread::scope(|scope| {
        for framing in ["Content-Length: 10000000000\r\n", "Transfer-Encoding: chunked\r\n"] {
            for _ in 0..clients {
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
    assert_peak(&server, 2 * clients, 2 * clients);
    server.create(&plant(1, "Ficus", None)).plant();
}

/// A connection waits to be accepted until another one ends. Meanwhile, the open connections are
/// served, operators get answers, and the store is written: the descriptors for that are kept.
#[test]
fn connections_past_the_hard_limit_on_open_files_wait_and_are_served_later() {
    const FILES: usize = 160;
    let starting = Server::starting().with(&["--metrics", "127.0.0.1:0"]);
    let server = starting.with_open_files(&format!("-n {FILES}")).start();
    let operators = metrics_address(&server);
    let mut early = server.connect();
    early.exchange(&server.post(&plant(0, "Ficus", None))).plant();
    for id in 1..=i64::try_from(amount(2, 10)).expect("fewer than 2^63") {
        let crowd = Crowd::of(FILES, server.address);
        server.wait_until("a shut door", || {
            TcpStream::connect_timeout(&server.address, Duration::from_millis(100)).is_err()
        });
        assert!(count(operators) >= FILES / 6, "clients get their part");
        thread::scope(|scope| {
            let late = scope.spawn(|| create_late(&server, &plant(id, "Ficus", None)));
            early.exchange(&server.post(&plant(-id, "Ficus", None))).plant();
            assert!(!late.is_finished());
            drop(crowd);
            late.join().expect("an answer");
        });
    }
}
