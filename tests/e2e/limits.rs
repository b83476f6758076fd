//! The limits of a body: its size, to the byte, and its time.

use std::thread;
use std::time::Duration;

use plant_store_tests::{Connection, Server, head, plant};

const JSON: &str = "Content-Type: application/json\r\n";
const CHUNKED: &str = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n";

/// A body that creates a plant, of exactly that many bytes.
fn plant_of(bytes: usize) -> String {
    let rest = plant(1, "", None);
    rest.replace(r#""name":"""#, &format!(r#""name":"{}""#, "f".repeat(bytes - rest.len())))
}

fn assert_too_large(mut connection: Connection, limit: usize) {
    let (error, message) = connection.receive().refusal();
    assert_eq!(error, 413);
    assert!(message.contains(&format!("larger than {limit} bytes")), "{message}");
    assert!(connection.is_closed());
}

/// A body of exactly the limit is accepted in both framings. One byte more is refused: from its
/// `Content-Length`, before any byte of the body; or in chunks, before the body ends.
#[test]
fn body_of_the_limit_is_200_and_one_byte_more_is_413() {
    for (size, limit) in [("1000", 1000), ("1kB", 1000), ("64KiB", 65536), ("0.5 MiB", 524_288)] {
        let server = Server::starting().with(&["--max-body", size]).start();
        let body = plant_of(limit);
        assert_eq!(body.len(), limit);
        server.create(&body).plant();
        let chunk = head(&(server.bearer() + CHUNKED)) + &format!("{limit:x}\r\n{body}\r\n");
        server.connect().exchange(format!("{chunk}0\r\n\r\n").as_bytes()).plant();

        let mut declared = server.connect();
        let length = format!("Content-Length: {}\r\n", limit + 1);
        declared.send(head(&(server.bearer() + JSON + &length)).as_bytes());
        assert_too_large(declared, limit);

        let mut chunked = server.connect();
        chunked.send(format!("{chunk}1\r\n ").as_bytes());
        assert_too_large(chunked, limit);
    }
}

/// A client that asks with `Expect: 100-continue` is refused before it sends the body.
#[test]
fn default_body_limit_is_1_mib() {
    let server = Server::start();
    server.create(&plant_of(1024 * 1024)).plant();
    for length in [1024 * 1024 + 1, u64::MAX - 2] {
        let mut connection = server.connect();
        let headers = format!("{JSON}Content-Length: {length}\r\nExpect: 100-continue\r\n");
        connection.send(head(&(server.bearer() + &headers)).as_bytes());
        assert_too_large(connection, 1024 * 1024);
    }
}

/// The deadline is for the whole body, not for the next byte of it.
#[test]
fn body_sent_slowly_past_the_deadline_is_408() {
    const LENGTH: usize = 400;
    let server = Server::starting().with(&["--body-timeout", "300ms"]).start();
    let mut connection = server.connect();
    let headers = format!("{}{JSON}Content-Length: {LENGTH}\r\n", server.bearer());
    connection.send(head(&headers).as_bytes());
    let mut sender = connection.sender();
    thread::scope(|scope| {
        scope.spawn(move || {
            for _ in 0..LENGTH {
                thread::sleep(Duration::from_millis(5));
                sender.try_send(b" ");
            }
        });
        assert_eq!(connection.receive().refusal().0, 408);
        assert!(connection.is_closed());
    });
}
