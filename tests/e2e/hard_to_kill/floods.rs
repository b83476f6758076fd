//! More creates and connections than the service can take. It refuses what is too much, and
//! recovers by itself.

use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use plant_store_tests::process::allow_many_files;
use plant_store_tests::{Server, amount, bearer, plant};

use crate::connections::{Crowd, count, create_late};
use crate::metrics::metrics_address;
use crate::wire::signals::admitted;

/// Bodies of one token that do not come take half of the permits and no more. When the token is
/// revoked meanwhile, none of them creates a plant.
#[test]
fn slow_bodies_of_one_token_leave_half_of_the_permits_and_create_nothing_once_it_is_revoked() {
    const PERMITS: usize = 800;
    allow_many_files().expect("the soft limit can be raised");
    let flags = ["--max-creates", &PERMITS.to_string(), "--max-connections", "600"];
    let server = Server::starting().with(&flags).with(&["--body-timeout", "1h"]).start();
    let others = server.command(&["token", "create", "other"]);
    let body = plant(1, "Ficus", None);
    let has_permit = |_| match admitted(&server, &server.token, &body) {
        Ok(connection) => Some(connection),
        Err(refused) => {
            assert_eq!(refused.error(), 503, "{refused:?}");
            None
        }
    };
    let mut slow: Vec<_> = (0..500).filter_map(has_permit).collect();
    assert_eq!(slow.len(), PERMITS / 2);
    server.create_with(&bearer(others.trim()), &plant(2, "Fern", None)).plant();

    server.command(&["token", "revoke", "first"]);
    for connection in &mut slow {
        assert_eq!(connection.exchange(body.as_bytes()).error(), 401);
    }
    assert!(server.export().into_keys().eq([2]));
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
        server.wait_until("the listener accepts no more", || {
            TcpStream::connect_timeout(&server.address, Duration::from_millis(100)).is_err()
        });
        // They are counted at the next look at the connections.
        server.wait_until("clients get their part", || count(operators) >= FILES / 6);
        thread::scope(|scope| {
            let late = scope.spawn(|| create_late(&server, &plant(id, "Ficus", None)));
            early.exchange(&server.post(&plant(-id, "Ficus", None))).plant();
            assert!(!late.is_finished());
            drop(crowd);
            late.join().expect("an answer");
        });
    }
}
