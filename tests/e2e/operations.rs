//! `--metrics`: `/live` and `/ready`, also while clients take as many connections as they can.

use std::net::SocketAddr;
use std::thread;

use nix::sys::signal::Signal;
use plant_store_tests::{Connection, Server, plant};

use crate::connections::{Crowd, count, create_late};
use crate::database;
use crate::metrics::{get, metrics_address, scrape, series};
use crate::wire::signals::in_flight;

/// The status of `/ready`, and its text.
fn ready(address: SocketAddr) -> (u16, String) {
    let answer = get(address, "/ready");
    (answer.status, String::from_utf8(answer.body).expect("text"))
}

const METRICS: [&str; 2] = ["--metrics", "127.0.0.1:0"];

fn starting(flags: &[&str]) -> (Server, SocketAddr) {
    let server = Server::starting().with(&METRICS).with(flags).start();
    let address = metrics_address(&server);
    (server, address)
}

#[test]
fn operators_get_live_and_ready_and_nothing_else() {
    let (_server, address) = starting(&[]);
    assert_eq!(get(address, "/live").status, 200);
    assert_eq!(get(address, "/live?verbose").status, 200);
    assert_eq!(ready(address), (200, "ready\n".into()));
    assert_eq!(get(address, "/").status, 404);
    let post = b"POST /live HTTP/1.1\r\nHost: plants\r\nContent-Length: 0\r\n\r\n";
    let refused = Connection::open(address).exchange(post);
    assert_eq!((refused.status, refused.header("allow")), (405, Some("GET, HEAD")));
}

/// A balancer sends no creates to a service that is not ready, so the service has to find out by
/// itself that it is ready again.
#[test]
fn ready_is_503_while_the_store_takes_no_writes_and_200_after_without_a_create() {
    let (server, address) = starting(&[]);
    let lock = database::locked(&server);
    assert_eq!(server.create(&plant(1, "Ficus", None)).refusal().0, 503);
    assert_eq!(ready(address), (503, "the store does not take writes\n".into()));
    drop(lock);
    server.wait_until("ready again", || ready(address).0 == 200);
    server.wait_for_log("the store takes writes again");
}

#[test]
fn ready_is_503_while_the_queue_is_full() {
    let (server, address) = starting(&["--queue", "1"]);
    let lock = database::locked(&server);
    let mut waiting: Vec<_> = (0..2).map(|_| server.connect()).collect();
    for (id, connection) in (0..).zip(&mut waiting) {
        connection.send(&server.post(&plant(id, "Ficus", None)));
        if id == 0 {
            server.wait_until("a commit", || {
                series(&scrape(address))["plant_store_commit_batch_size_count"] == "1"
            });
        }
    }
    server.wait_until("a full queue", || ready(address) == (503, "the queue is full\n".into()));
    drop(lock);
    server.wait_until("ready again", || ready(address).0 == 200);
}

#[test]
fn ready_is_503_from_the_signal_on() {
    let (mut server, address) = starting(&[]);
    let body = plant(1, "Ficus", None);
    let mut last = in_flight(&server, &body);
    server.signal(Signal::SIGTERM);
    server.wait_until("503", || ready(address) == (503, "the service stops\n".into()));
    assert_eq!(get(address, "/live").status, 200);
    last.exchange(body.as_bytes()).plant();
    assert!(server.wait().success());
}

/// More clients than may be connected: the open connections go on, operators are answered, and the
/// others wait for their turn.
#[test]
fn connections_past_their_limit_wait_and_operators_are_answered() {
    const MOST: usize = 20;
    const FILES: usize = 100;
    /// How many more there may be.
    const FEW: usize = 4;
    let most = ["--max-connections", &MOST.to_string()];
    let starting = Server::starting().with(&METRICS).with(&most);
    let server = starting.with_open_files(&format!("-n {FILES}")).start();
    let address = metrics_address(&server);
    let mut early = server.connect();
    early.exchange(&server.post(&plant(0, "Ficus", None))).plant();
    let crowd = Crowd::of(FILES, server.address);
    server.wait_for_log("connection limit reached");
    thread::scope(|scope| {
        let late = scope.spawn(|| create_late(&server, &plant(1, "Ficus", None)));
        let connections = count(address);
        assert!((MOST..=MOST + FEW).contains(&connections), "{connections}");
        assert_eq!(ready(address).0, 200);
        early.exchange(&server.post(&plant(2, "Ficus", None))).plant();
        assert!(!late.is_finished());
        drop(crowd);
        late.join().expect("an answer");
    });
    assert!(!server.log().contains("accept error"), "ten a second would fill the disk");
}

#[test]
fn clients_that_say_nothing_to_the_operators_listener_stop_neither_it_nor_the_api() {
    let (server, address) = starting(&[]);
    let silent: Vec<_> = (0..60).map(|_| Connection::open(address)).collect();
    server.create(&plant(1, "Ficus", None)).plant();
    assert_eq!(series(&scrape(address))["plant_store_creates_total{outcome=\"created\"}"], "1");
    let many: Vec<_> = (0..60).map(|_| Connection::open(address)).collect();
    for mut connection in silent.into_iter().chain(many) {
        assert!(connection.is_closed());
    }
    assert_eq!(ready(address).0, 200);
}

#[test]
fn metrics_tell_the_release_and_the_bodies() {
    let (server, address) = starting(&[]);
    let body = plant(1, &"f".repeat(9_000), None);
    let _reading = in_flight(&server, &body);
    server.wait_until("a body in use", || {
        let bytes = series(&scrape(address))["plant_store_bodies_bytes"].parse::<usize>();
        // The head and the task of the request count too.
        (body.len()..3 * body.len()).contains(&bytes.expect("a number"))
    });
    let scrape = scrape(address);
    let series = series(&scrape);
    let version = concat!("plant_store_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"}");
    assert_eq!(series[version], "1");
}
