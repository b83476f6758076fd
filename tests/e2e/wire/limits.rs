//! The limits of a body: its size, to the byte, and its time.

use std::thread;
use std::time::Duration;

use plant_store_tests::{Connection, Server, binary_in, failure, head, plant};

use crate::database;
use crate::metrics::{metrics_address, scrape, series};
use crate::wire::signals::in_flight;

const JSON: &str = "Content-Type: application/json\r\n";
const CHUNKED: &str = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n";

/// A body that creates a plant, of exactly that many bytes.
fn plant_of(bytes: usize) -> String {
    plant_with(1, bytes)
}

/// The same, of the plant with that id.
fn plant_with(id: i64, bytes: usize) -> String {
    let rest = plant(id, "", None);
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

/// Bodies that are being read count, those whose plants wait for a commit count, and those of
/// clients that have left meanwhile, too.
#[test]
fn bodies_past_their_common_limit_are_503_and_get_room_again() {
    let flags = ["--max-body", "100kB", "--max-bodies", "150kB", "--metrics", "127.0.0.1:0"];
    let server = Server::starting().with(&flags).start();
    let is_refused = || {
        let answer = server.create(&plant_with(1, 60_000));
        answer.status == 400
            && (answer.refusal().0, answer.header("retry-after")) == (503, Some("1"))
    };
    let body = plant_with(2, 100_000);
    let mut read = in_flight(&server, &body);
    assert!(is_refused(), "a body is being read");
    read.exchange(body.as_bytes()).plant();
    assert!(!is_refused(), "there is room again");

    let lock = database::locked(&server);
    let body = plant_with(3, 100_000);
    let mut waits = in_flight(&server, &body);
    waits.send(body.as_bytes());
    let metrics = metrics_address(&server);
    server.wait_until("three plants in commits", || {
        series(&scrape(metrics))["plant_store_commit_batch_size_sum"] == "3"
    });
    drop(waits);
    assert!(is_refused(), "a plant waits for its commit");
    drop(lock);
    server.wait_until("room again", || !is_refused());
    assert!(server.export().contains_key(&3), "its client has left");
}

/// Of 150 kB, large bodies leave 18,750 bytes. Without that rule, a body of 45 kB would fit while
/// another one has 100 kB.
#[test]
fn large_bodies_leave_an_eighth_of_the_common_limit_to_small_ones() {
    let flags = ["--max-body", "100kB", "--max-bodies", "150kB"];
    let server = Server::starting().with(&flags).start();
    let body = plant_with(1, 100_000);
    let mut read = in_flight(&server, &body);
    assert_eq!(server.create(&plant_with(2, 45_000)).refusal().0, 503);
    server.create(&plant_with(3, 30_000)).plant();
    read.exchange(body.as_bytes()).plant();
    server.create(&plant_with(2, 45_000)).plant();
}

/// A body without a `Content-Length` takes bytes of the limit as it arrives.
#[test]
fn chunks_past_the_common_limit_are_503() {
    let flags = ["--max-body", "85kB", "--max-bodies", "140kB"];
    let server = Server::starting().with(&flags).start();
    let body = plant_with(1, 70_000);
    let _reading = in_flight(&server, &body);
    let mut chunked = server.connect();
    let chunk = head(&(server.bearer() + CHUNKED)) + &format!("{:x}\r\n{body}\r\n", body.len());
    assert_eq!(chunked.exchange(chunk.as_bytes()).refusal().0, 503);
    assert!(chunked.is_closed());
}

#[test]
fn common_limit_below_the_limit_of_one_body_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut command = binary_in(folder.path());
    let (status, said) = failure(command.args(["serve", "--max-bodies", "1MB"]));
    assert_eq!(status, Some(1));
    assert!(said.contains("--max-body is 1.0 MiB, and --max-bodies is only"), "{said}");
}

/// A large body of very many members is read like any other.
#[test]
fn body_of_a_hundred_thousand_members_is_read_and_its_repetition_found() {
    use std::fmt::Write;
    let server = Server::start();
    let mut members = String::new();
    for member in 0..100_000 {
        write!(members, ",\"{member:x}\":0").expect("a string takes all");
    }
    let start = r#"{"id":1,"name":"Ficus""#;
    server.create(&format!("{start}{members}}}")).plant();
    let (error, message) = server.create(&format!("{start}{members},\"7f\":1}}")).refusal();
    assert_eq!(
        (error, message.as_str()),
        (400, "`7f` is given twice; every member may be given once")
    );
}
