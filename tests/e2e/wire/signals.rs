//! How the server stops.

use std::fs;
use std::thread;

use bytes::Bytes;
use h2::client::{SendRequest, handshake};
use nix::sys::signal::Signal;
use plant_store_tests::{Connection, Response, Server, bearer, head, plant};
use tokio::net::TcpStream;

use crate::database;

/// A request with that token whose head is accepted: the server has sent `100 Continue`, and no
/// byte of the body has come. Otherwise the refusal.
pub fn admitted(server: &Server, token: &str, body: &str) -> Result<Connection, Response> {
    let mut connection = server.connect();
    let length = format!("Content-Length: {}\r\nExpect: 100-continue\r\n", body.len());
    let headers = format!("{}Content-Type: application/json\r\n{length}", bearer(token));
    match connection.exchange(head(&headers).as_bytes()) {
        Response { status: 100, .. } => Ok(connection),
        refused => Err(refused),
    }
}

/// The same, with a token that is accepted.
pub fn in_flight(server: &Server, body: &str) -> Connection {
    admitted(server, &server.token, body).expect("a permit")
}

#[test]
fn sigterm_waits_for_requests_in_flight() {
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let mut server = Server::start();
        server.create(&plant(1, "Ficus", None)).plant();
        let mut silent = server.connect();
        let body = plant(2, "Fern", None);
        let mut connection = in_flight(&server, &body);
        server.signal(signal);
        silent.expect_closed("before the last answer");
        connection.exchange(body.as_bytes()).plant();
        connection.expect_closed("after its last answer");

        assert_eq!(server.wait().code(), Some(0), "{signal}");
        let log = server.log();
        assert_eq!(log.matches("request completed").count(), 2, "the log is complete: {log}");
        assert!(log.lines().last().expect("a record").contains("\"stopped\""), "{log}");
        assert_eq!(server.export().len(), 2);
    }
}

/// With one signal the server would wait for the request in flight, and exit with status 0.
#[test]
fn second_signal_stops_at_once_with_status_1() {
    for (first, second) in [
        (Signal::SIGTERM, Signal::SIGTERM),
        (Signal::SIGINT, Signal::SIGINT),
        (Signal::SIGTERM, Signal::SIGINT),
    ] {
        let mut server = Server::start();
        let _connection = in_flight(&server, &plant(1, "Ficus", None));
        server.signal(first);
        server.wait_for_log("stopping");
        assert_eq!(server.stop_at_once(second).code(), Some(1), "{first}, {second}");
        assert!(server.log().contains("second signal"), "{}", server.log());
    }
}

/// Such as by a supervisor and a terminal. A stopped process gets both at once.
#[test]
fn two_signals_within_a_second_are_one_stop() {
    let mut server = Server::start();
    let body = plant(1, "Ficus", None);
    let mut connection = in_flight(&server, &body);
    for signal in [Signal::SIGSTOP, Signal::SIGTERM, Signal::SIGINT, Signal::SIGCONT] {
        server.signal(signal);
    }
    server.wait_for_log("stopping");
    connection.exchange(body.as_bytes()).plant();
    assert_eq!(server.wait().code(), Some(0), "{}", server.log());
}

#[test]
fn shutdown_timeout_ends_a_request_that_never_ends() {
    let flags = ["--shutdown-timeout", "100ms", "--body-timeout", "1h"];
    let mut server = Server::starting().with(&flags).start();
    let _connection = in_flight(&server, &plant(1, "Ficus", None));
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait().code(), Some(0));
    assert!(server.log().contains("requests are left unfinished"), "{}", server.log());
    assert!(server.export().is_empty());
}

/// A create that waits for the store's lock when the signal comes is committed and answered.
#[test]
fn sigterm_commits_and_answers_queued_creates() {
    let mut server = Server::start();
    let lock = database::locked(&server);
    let body = plant(1, "Ficus", None);
    let mut connection = in_flight(&server, &body);
    connection.send(body.as_bytes());
    server.signal(Signal::SIGTERM);
    server.wait_for_log("stopping");
    drop(lock);
    connection.receive().plant();
    assert_eq!(server.wait().code(), Some(0));
    assert_eq!(server.export().len(), 1);
}

/// An open connection of HTTP/2 whose client sends no request.
async fn idle_http_2(server: &Server) -> SendRequest<Bytes> {
    let stream = TcpStream::connect(server.address).await.expect("the server listens");
    let (requests, connection) = handshake(stream).await.expect("the server speaks HTTP/2");
    tokio::spawn(connection);
    requests.ready().await.expect("it is open")
}

/// The time for requests in flight is longer than a test waits.
#[tokio::test(flavor = "multi_thread")]
async fn stop_beside_silent_and_idle_connections_does_not_last_until_its_timeout() {
    let mut server = Server::starting().with(&["--shutdown-timeout", "1h"]).start();
    let silent = server.connect();
    let idle_http_2 = idle_http_2(&server).await;
    let mut idle = server.connect();
    idle.exchange(&server.post(&plant(1, "Ficus", None))).plant();
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait().code(), Some(0));
    let log = server.log();
    assert!(log.lines().last().expect("a record").contains("\"stopped\""), "{log}");
    drop((silent, idle, idle_http_2));
}

/// Dropshot waits for a client that has sent half of a head, and for one that does not read its
/// answers.
#[test]
fn stop_closes_the_store_although_clients_keep_their_connections_until_its_timeout() {
    let mut server = Server::starting().with(&["--shutdown-timeout", "100ms"]).start();
    let mut half = server.connect();
    half.send(b"POST /plants HTTP/1.1\r\nHost: pl");
    let mut deaf = server.connect();
    // More answers than the buffers of two sockets take.
    let request = server.post(&plant(1, &"Ficus ".repeat(10_000), None));
    let mut sender = deaf.sender();
    let sending = thread::spawn(move || while sender.try_send(&request) {});
    deaf.receive().plant();
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait().code(), Some(0));
    let log = server.log();
    assert!(log.contains("requests are left unfinished"), "{log}");
    // A store that is closed has nothing left in its WAL; PostgreSQL has no such file.
    let wal = fs::metadata(server.folder().join("plant-store.db-wal"));
    assert_eq!(wal.map_or(0, |wal| wal.len()), 0, "{log}");
    sending.join().expect("the sender ends with the server");
    drop((half, deaf));
}
