//! The limits on the size of a body, to the byte, on the number of concurrent creates, and on open
//! files; and the memory that they allow.

use std::net::TcpStream;

use bytes::Bytes;
use futures::future::select_all;
use h2::SendStream;
use h2::client::{Builder, ResponseFuture};
use http::Request;
use plant_store_tests::JSON;
use plant_store_tests::prelude::*;
use plant_store_tests::process::{open_files, peak_memory_mib};

use crate::database;

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

/// Creates go on when the clients have left. After an accept(2) that found no free file, Dropshot
/// retries every 100 ms, and the kernel holds the new connections in its backlog.
#[test]
fn more_clients_than_open_files_do_not_stop_the_server() {
    const FILES: usize = 64;
    let server = Server::starting().with_open_files(&format!("-n {FILES}")).start();
    server.wait_for_log(&format!("\"open_files\":{FILES}"));
    let mut early = server.connect();
    early.exchange(&server.post(&plant(0, "Ficus", None))).plant();
    for id in 1..=i64::try_from(amount(2, 10)).expect("fewer than 2^63") {
        let crowd: Vec<_> = (0..FILES)
            .map(|_| TcpStream::connect(server.address).expect("the kernel accepts it"))
            .collect();
        server.wait_until("each file is open", || open_files(server.pid()) >= FILES);
        early.exchange(&server.post(&plant(-id, "Ficus", None))).plant();
        drop(crowd);
        server.create(&plant(id, "Ficus", None)).plant();
    }
    assert!(!server.log().contains("accept"), "a record for each failure would fill the disk");
}

/// The defaults of `--max-creates`, and of `--max-body` in bytes.
const PERMITS: usize = 1024;
const MAX_BODY: usize = 64 * 1024;

/// The number of connections that hold all permits.
const CONNECTIONS: usize = 8;

/// Sends plants of the maximum size without their last byte, on a stream each. The client accepts
/// no byte of the answers' bodies: its window is zero.
async fn large_bodies(
    server: &Server,
    token: &str,
    count: usize,
) -> Vec<(ResponseFuture, SendStream<Bytes>)> {
    let stream = tokio::net::TcpStream::connect(server.address).await.expect("it listens");
    let connecting = Builder::new().initial_window_size(0).handshake(stream);
    let (mut client, connection) = connecting.await.expect("the server speaks HTTP/2");
    // The task ends with the last stream.
    tokio::spawn(connection);
    let name = "f".repeat(MAX_BODY - plant(3, "", None).len());
    let body = Bytes::from(plant(3, &name, None)).slice(..MAX_BODY - 1);
    let mut streams = Vec::new();
    for _ in 0..count {
        client = client.ready().await.expect("a stream");
        let request = Request::post(format!("{}/plants", server.url))
            .header("content-type", "application/json")
            .header("authorization", format!("Bearer {token}"));
        let (answer, mut stream) =
            client.send_request(request.body(()).expect("a request"), false).expect("a stream");
        stream.send_data(body.clone(), false).expect("the stream takes data");
        streams.push((answer, stream));
    }
    streams
}

/// Bodies and unread answers hold their permits. HTTP/2 needs the fewest connections for that. The
/// formula is that of server/README.md, in which connections have a term of their own.
#[tokio::test(flavor = "multi_thread")]
async fn bodies_and_unread_answers_fit_the_memory_formula() {
    // On a busy machine a thousand large plants may wait longer than the default timeouts.
    let flags = ["--body-timeout", "1h", "--store-timeout", "1m"];
    let server = Server::starting().with(&flags).start();
    let other = server.run("token create other").succeeded();
    let tokens = [server.token.as_str(), other.trim()];
    let is_created = || server.create(&plant(2, "Ficus", None)).status == 200;
    let mut bodies = Vec::new();
    for token in tokens {
        // One more than the token may have permits. Once it is refused, the others hold theirs.
        let mut of_token = large_bodies(&server, token, 1).await;
        for _ in 0..CONNECTIONS / 2 {
            of_token.extend(large_bodies(&server, token, PERMITS / CONNECTIONS).await);
        }
        let answers = of_token.iter_mut().map(|(answer, _)| answer);
        let (refused, at, _) = select_all(answers).await;
        assert_eq!(refused.expect("an answer").status(), 400);
        drop(of_token.swap_remove(at));
        bodies.extend(of_token);
    }
    assert!(!is_created(), "the bodies hold all permits");
    for (_, stream) in &mut bodies {
        stream.send_data(Bytes::from_static(b"}"), true).expect("the stream takes data");
    }
    let mut unread = Vec::new();
    for (answer, _) in bodies {
        let answer = answer.await.expect("an answer");
        assert_eq!(answer.status(), 200);
        unread.push(answer);
    }
    assert!(!is_created(), "the answers hold their permits");
    let number = |number| f64::from(u32::try_from(number).expect("a small number"));
    let connections = number(CONNECTIONS) + 3.0;
    let limit = 60.0 + 0.75 * connections + 3.0 * number(PERMITS * MAX_BODY) / 1024.0 / 1024.0;
    let peak = peak_memory_mib(server.pid());
    assert!(peak < limit, "peak {peak} MiB, limit {limit} MiB");
    drop(unread);
    server.wait_until("a permit", is_created);
}
