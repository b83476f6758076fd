//! The deadline of a connection on which nothing is asked, from its first byte on.

use std::thread;
use std::time::{Duration, Instant};

use plant_store_tests::{Server, head, plant};

/// The connection preface of HTTP/2, with the client's empty SETTINGS (RFC 9113, section 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

/// A HEADERS frame that announces 100 bytes (section 6.2), and one of them.
const HALF_HEADERS: &[u8] = b"\0\0\x64\x01\x04\0\0\0\x01\x82";

#[test]
fn connection_without_a_request_in_flight_is_closed_in_both_protocols() {
    let server = Server::starting().with(&["--idle-timeout", "1s"]).start();
    let half_headers = [PREFACE, HALF_HEADERS].concat();
    let starts = [b"".as_slice(), b"P", b"PRI * HTTP/2.0", PREFACE, &half_headers, b"GET / HTT"];
    let connections = starts.map(|start| {
        let mut connection = server.connect();
        connection.send(start);
        connection
    });
    for mut connection in connections {
        connection.wait_until_closed();
    }
    let mut answered = server.connect();
    answered.exchange(&server.post(&plant(1, "Ficus", None))).plant();
    answered.expect_closed("after its answer");
}

/// Only the body's own deadline ends it.
#[test]
fn connection_with_a_request_in_flight_is_not_closed() {
    const IDLE: Duration = Duration::from_millis(400);
    let server = Server::starting().with(&["--idle-timeout", "400ms"]).start();
    let body = plant(1, "Ficus", None);
    let headers = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
    let mut connection = server.connect();
    let begin = Instant::now();
    connection.send(head(&(server.bearer() + &headers)).as_bytes());
    for byte in body.bytes() {
        // All of them take longer than the idle time-out.
        thread::sleep(Duration::from_millis(30));
        connection.send(&[byte]);
    }
    connection.receive().plant();
    assert!(begin.elapsed() > IDLE, "{:?}", begin.elapsed());
}
