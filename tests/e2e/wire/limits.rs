//! The limits on the size of a body, to the byte, and on the number of concurrent creates.

use plant_store_tests::prelude::*;

use crate::database;

const JSON: &str = "Content-Type: application/json\r\n";
const CHUNKED: &str = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n";

fn assert_too_large(mut connection: Connection, limit: usize) {
    let (error, message) = connection.receive().refusal();
    assert_eq!(error, 413);
    assert!(message.contains(&limit.to_string()), "{message}");
    connection.expect_closed("after a 413");
    // More than the buffers of two sockets can hold.
    let is_read = |_| connection.try_send(&vec![b' '; 64 * 1024]);
    assert!(!(0..512).all(is_read), "the service reads a body that it has refused");
}

/// A body of exactly the limit is accepted in both framings. A body with one more byte is refused.
/// With a `Content-Length` it is refused before any byte is sent, without `100 Continue`. In chunks
/// it is refused before its end.
#[test]
fn body_at_the_limit_is_200_and_one_byte_more_is_413() {
    let table = [(None, 65_536), (Some("1kB"), 1000), (Some("0.5 MiB"), 524_288)];
    each_row(table, |(size, limit)| {
        let flags: Vec<_> = size.into_iter().flat_map(|size| ["--max-body", size]).collect();
        let server = Server::starting().with(&flags).start();
        let body = plant(1, &"f".repeat(limit - plant(1, "", None).len()), None);
        assert_eq!(body.len(), limit);
        server.create(&body).plant();
        let chunk = head(&(server.bearer() + CHUNKED)) + &format!("{limit:x}\r\n{body}\r\n");
        server.connect().exchange(format!("{chunk}0\r\n\r\n").as_bytes()).plant();

        for length in [limit as u64 + 1, u64::MAX - 2] {
            let length = format!("Content-Length: {length}\r\nExpect: 100-continue\r\n");
            let mut declared = server.connect();
            declared.send(head(&(server.bearer() + JSON + &length)).as_bytes());
            assert_too_large(declared, limit);
        }
        let mut chunked = server.connect();
        chunked.send(format!("{chunk}1\r\n ").as_bytes());
        assert_too_large(chunked, limit);
    });
}

/// A create holds its permit while its body is read and while its plant waits for a commit. A
/// client that disconnects releases its permit. One token may hold half of the permits.
#[test]
fn token_that_holds_half_of_the_permits_gets_503() {
    let server = Server::starting()
        .with(&["--max-creates", "4", "--log-level", "debug"])
        .with(&["--store-timeout", "1m", "--body-timeout", "1m"])
        .start();
    let other = server.run("token create other").succeeded();
    let body = plant(1, "Ficus", None);
    let refused = plant(2, "Refused", None);
    let is_refused = || {
        let answer = server.create(&refused);
        answer.status == 400 && answer.error() == 503 && answer.header("retry-after") == Some("1")
    };
    let [mut one, left] = [(); 2].map(|()| server.in_flight(&body));
    assert!(is_refused(), "both permits of the token are held");
    server.create_with(&bearer(other.trim()), &body).plant();
    drop(left);
    let mut two = server.in_flight(&body);
    assert!(is_refused(), "both permits are held again");

    let lock = database::locked(&server);
    for connection in [&mut one, &mut two] {
        connection.send(body.as_bytes());
    }
    assert!(is_refused(), "creates that wait for a commit keep their permits");
    drop(two);
    server.wait_for_log("client disconnected");
    assert!(is_refused(), "even if their clients have disconnected");
    drop(lock);
    one.receive().plant();
    assert_eq!(server.export().len(), 1);
    server.wait_until("committed creates release their permits", || !is_refused());
}
