//! More clients than may be connected, and clients that connect and disconnect all the time.

use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use plant_store_tests::{Server, amount, plant};

use crate::connections::{Crowd, count};
use crate::metrics::{get, metrics_address};

/// How many more connections than `--max-connections` there may be.
const FEW: usize = 4;

/// How soon operators get an answer.
const SOON: Duration = Duration::from_secs(2);

/// Asks as fast as it can. Returns the longest time that an answer took.
fn ask(operators: SocketAddr, questions: usize) -> Duration {
    let ask = |_| {
        let begin = Instant::now();
        assert_eq!(get(operators, "/live").status, 200);
        begin.elapsed()
    };
    (0..questions).map(ask).max().expect("a question")
}

#[test]
fn crowd_without_end_keeps_no_operator_waiting_and_stays_within_its_limit() {
    let most = amount(20, 50);
    let clients = amount(80, 400);
    for threads in ["1", "2"] {
        let most_flag = most.to_string();
        let flags = ["--metrics", "127.0.0.1:0", "--http-threads", threads];
        // On a busy machine the questions take longer than the default, and the crowd is silent.
        let starting = Server::starting().with(&flags).with(&["--idle-timeout", "1h"]);
        let server = starting.with(&["--max-connections", &most_flag]).start();
        let operators = metrics_address(&server);
        let mut early = server.connect();
        early.exchange(&server.post(&plant(0, "Ficus", None))).plant();
        let _crowd = Crowd::of(clients, server.address);
        server.wait_for_log("connection limit reached");
        thread::scope(|scope| {
            let questions = amount(2_000, 20_000);
            let ask = move || ask(operators, questions);
            let asking: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
            while asking.iter().any(|thread| !thread.is_finished()) {
                let count = count(operators);
                assert!((most..=most + FEW).contains(&count), "{count} connections");
                early.exchange(&server.post(&plant(1, "Ficus", None))).plant();
            }
            let longest = asking.into_iter().map(|thread| thread.join().expect("answers")).max();
            let longest = longest.expect("a thread");
            println!("{clients} clients for {most} connections: operators wait {longest:?}");
            assert!(longest < SOON, "{longest:?}");
        });
    }
}

/// Silent connections are closed all the time, when they have been idle for too long. The numbers
/// of their descriptors become those of new connections.
#[test]
fn fresh_connections_beside_idle_ones_are_never_cut() {
    for threads in ["1", "2"] {
        let flags = ["--idle-timeout", "300ms", "--http-threads", threads];
        let server = Server::starting().with(&flags).start();
        let _silent = Crowd::of(200, server.address);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..amount(500, 4_000) {
                        assert_eq!(server.create_with("", "{}").error(), 401);
                    }
                });
            }
        });
    }
}
