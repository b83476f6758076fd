//! More clients than the process may have open files, and clients that make the service buffer as
//! much as possible: then the memory stays within the formula of server/README.md.

use std::net::TcpStream;

use bytes::Bytes;
use futures::future::select_all;
use h2::SendStream;
use h2::client::{Builder, ResponseFuture};
use http::Request;
use plant_store_tests::prelude::*;
use plant_store_tests::process::{open_files, peak_memory_mib};

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

/// Bodies and unread answers hold their permits. HTTP/2 needs the fewest connections for that.
/// Connections have a term of their own in the formula.
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
