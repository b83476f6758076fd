//! Clients that make the service buffer as much as possible: with answers that nobody reads, with
//! heads whose bodies never arrive, and with bodies of the maximum size. The first two hold their
//! permits. The memory stays within the formula of server/README.md.

use bytes::Bytes;
use h2::client::{Builder, ResponseFuture, SendRequest};
use h2::{RecvStream, SendStream};
use http::{Request, request};
use plant_store_tests::process::peak_memory_mib;
use plant_store_tests::{Server, amount, plant};
use tokio::net::TcpStream;

type Client = SendRequest<Bytes>;

/// The maximum number of concurrent streams of a connection.
const STREAMS: usize = 200;

/// The default of `--max-creates`.
const PERMITS: usize = 1024;

/// The default of `--max-body`, in bytes and in MiB.
const MAX_BODY: usize = 64 * 1024;
const BODY_MIB: f64 = 64.0 / 1024.0;

/// Asserts that the peak memory is below the formula of server/README.md for that many connections
/// and permits.
pub fn assert_peak(server: &Server, connections: usize, permits: usize) {
    let number = |number| f64::from(u32::try_from(number).expect("a small number"));
    let peak = peak_memory_mib(server.pid()).expect("the process is running");
    let limit = 60.0 + 0.75 * number(connections) + 3.0 * BODY_MIB * number(permits);
    println!("peak {peak:.0} MiB of {limit:.0}");
    assert!(peak < limit, "peak {peak} MiB, limit {limit} MiB");
}

/// Returns the head of a create, with that many additional empty header fields.
fn request(server: &Server, token: &str, fields: usize) -> Request<()> {
    let request = Request::post(format!("{}/plants", server.url))
        .header("content-type", "application/json")
        .header("authorization", format!("Bearer {token}"));
    let add = |request: request::Builder, field| request.header(format!("x{field}"), "");
    (0..fields).fold(request, add).body(()).expect("a request")
}

/// Connects with HTTP/2 and a window of zero, so that the client accepts no byte of a response
/// body.
async fn connect_without_window(server: &Server) -> Client {
    let stream = TcpStream::connect(server.address).await.expect("the server listens");
    let connecting = Builder::new().initial_window_size(0).handshake(stream);
    let (requests, connection) = connecting.await.expect("the server speaks HTTP/2");
    // The task ends with the test, or with the last stream.
    tokio::spawn(connection);
    requests
}

/// Opens a stream and sends the head. The body is sent later.
async fn open_stream(client: &Client, head: Request<()>) -> (ResponseFuture, SendStream<Bytes>) {
    let mut client = client.clone().ready().await.expect("a stream");
    client.send_request(head, false).expect("a stream")
}

/// The answers of a connection whose client does not read the response bodies.
struct UnreadAnswers {
    /// The number of answers with status 200.
    created: usize,
    answers: Vec<RecvStream>,
}

/// Sends the same plant, nearly as large as allowed, on that many streams of one connection.
async fn unread_answers(server: &Server, token: &str, streams: usize) -> UnreadAnswers {
    let body = Bytes::from(plant(1, &"f".repeat(65_000), None));
    let client = connect_without_window(server).await;
    let mut sent = Vec::new();
    for _ in 0..streams {
        let (answer, mut stream) = open_stream(&client, request(server, token, 380)).await;
        stream.send_data(body.clone(), true).expect("the stream takes data");
        sent.push(answer);
    }
    let mut unread = UnreadAnswers { created: 0, answers: Vec::new() };
    for answer in sent {
        let (head, answer) = answer.await.expect("an answer").into_parts();
        assert!(head.status == 200 || head.headers["retry-after"] == "1", "{head:?}");
        unread.created += usize::from(head.status == 200);
        unread.answers.push(answer);
    }
    unread
}

fn is_created(server: &Server) -> bool {
    server.create(&plant(2, "Ficus", None)).status == 200
}

/// One token may hold half of the permits. A permit is free again when its answer is dropped.
#[tokio::test(flavor = "multi_thread")]
async fn unread_answers_hold_their_permits() {
    let server = Server::starting().with(&["--max-creates", "64"]).start();
    let unread = unread_answers(&server, &server.token, 50).await;
    assert_eq!(unread.created, 32);
    assert!(!is_created(&server));
    drop(unread);
    server.wait_until("a permit", || is_created(&server));
}

/// Opens streams with heads of about 14 kB whose bodies never arrive. A field counts as 32 bytes
/// plus its name and its value (RFC 9113, section 6.5.2).
async fn waiting_heads(server: &Server, token: &str) -> Vec<impl Sized + use<>> {
    let client = connect_without_window(server).await;
    let mut streams = Vec::new();
    for _ in 1..STREAMS {
        streams.push(open_stream(&client, request(server, token, 380)).await);
    }
    // The answer to the last request shows that the server has read the others.
    let (answer, _body) = open_stream(&client, request(server, "x", 0)).await;
    assert_eq!(answer.await.expect("an answer").status(), 400);
    streams
}

/// Sends plants of the maximum size without their last byte, on a stream each.
async fn large_bodies(server: &Server, token: &str) -> Vec<(ResponseFuture, SendStream<Bytes>)> {
    let client = connect_without_window(server).await;
    let name = "f".repeat(MAX_BODY - plant(3, "", None).len());
    let body = Bytes::from(plant(3, &name, None)).slice(..MAX_BODY - 1);
    let mut streams = Vec::new();
    for _ in 0..PERMITS / 2 / 3 {
        let (answer, mut stream) = open_stream(&client, request(server, token, 0)).await;
        stream.send_data(body.clone(), false).expect("the stream takes data");
        streams.push((answer, stream));
    }
    streams
}

#[tokio::test(flavor = "multi_thread")]
async fn heads_bodies_and_unread_answers_fit_the_memory_formula() {
    let connections = amount(4, 100);
    // On a busy machine a thousand large plants may wait longer than the default timeouts.
    let flags = ["--body-timeout", "1h", "--store-timeout", "1m"];
    let server = Server::starting().with(&flags).start();
    let other = server.command(&["token", "create", "other"]);
    let tokens = [server.token.as_str(), other.trim()];
    let mut bodies = Vec::new();
    for token in tokens.repeat(3) {
        bodies.extend(large_bodies(&server, token).await);
    }
    for (_, stream) in &mut bodies {
        stream.send_data(Bytes::from_static(b"}"), true).expect("the stream takes data");
    }
    for (answer, _) in bodies {
        assert_eq!(answer.await.expect("an answer").status(), 200);
    }
    assert_peak(&server, 6, PERMITS);

    let mut answers = Vec::new();
    for token in [tokens[0], tokens[1], tokens[1]] {
        let unread = unread_answers(&server, token, STREAMS).await;
        assert_eq!(unread.created, STREAMS);
        answers.push(unread);
    }
    let mut heads = Vec::new();
    for number in 0..connections {
        heads.push(waiting_heads(&server, tokens[number % 2]).await);
    }
    assert!(!is_created(&server));
    assert_peak(&server, 9 + connections, PERMITS);
    drop(heads);
    drop(answers);
    server.wait_until("a permit", || is_created(&server));
}
