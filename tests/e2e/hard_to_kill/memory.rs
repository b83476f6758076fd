//! Clients that make the service keep what it has read. With a token: answers that they do not
//! read, and heads whose bodies do not come; both keep their permits. And bodies at the limit. The
//! memory stays within the formula of the operator's README.

use bytes::Bytes;
use h2::client::{Builder, ResponseFuture, SendRequest};
use h2::{RecvStream, SendStream};
use http::{Request, request};
use plant_store_tests::process::peak_memory_mib;
use plant_store_tests::{Server, amount, plant};
use tokio::net::TcpStream;

type Client = SendRequest<Bytes>;

/// How many streams of a connection may be open at once.
const STREAMS: usize = 200;

/// The defaults of `--max-creates`, and of `--max-body` in bytes and in MiB.
const PERMITS: usize = 1024;
const LIMIT: usize = 64 * 1024;
const BODY_MIB: f64 = 64.0 / 1024.0;

/// Peak memory stays under the formula of the operator's README, for that many connections and
/// permits of creates.
pub fn assert_peak(server: &Server, connections: usize, permits: usize) {
    let number = |number| f64::from(u32::try_from(number).expect("a small number"));
    let peak = peak_memory_mib(server.pid()).expect("the process is there");
    let most = 60.0 + 0.75 * number(connections) + 3.0 * BODY_MIB * number(permits);
    println!("peak {peak:.0} MiB of {most:.0}");
    assert!(peak < most, "{peak} MiB");
}

/// The request of a create without its body, with that many more header fields, which are empty.
fn request(server: &Server, token: &str, fields: usize) -> Request<()> {
    let request = Request::post(format!("{}/plants", server.url))
        .header("content-type", "application/json")
        .header("authorization", format!("Bearer {token}"));
    let add = |request: request::Builder, field| request.header(format!("x{field}"), "");
    (0..fields).fold(request, add).body(()).expect("a request")
}

/// A connection over HTTP/2 whose client takes no byte of an answer's body.
async fn without_window(server: &Server) -> Client {
    let stream = TcpStream::connect(server.address).await.expect("the server listens");
    let connecting = Builder::new().initial_window_size(0).handshake(stream);
    let (requests, connection) = connecting.await.expect("the server speaks HTTP/2");
    // It ends with the test, or with the last stream.
    tokio::spawn(connection);
    requests
}

/// A stream with that head, whose body comes later.
async fn open(client: &Client, head: Request<()>) -> (ResponseFuture, SendStream<Bytes>) {
    let mut client = client.clone().ready().await.expect("a stream");
    client.send_request(head, false).expect("a stream")
}

/// The answers of a connection whose client takes nothing of their bodies.
struct Unread {
    /// How many are a 200.
    created: usize,
    answers: Vec<RecvStream>,
}

/// Sends the same plant, nearly as large as it may be, on that many streams of a connection.
async fn unread_answers(server: &Server, token: &str, streams: usize) -> Unread {
    let body = Bytes::from(plant(1, &"f".repeat(65_000), None));
    let client = without_window(server).await;
    let mut sent = Vec::new();
    for _ in 0..streams {
        let (answer, mut stream) = open(&client, request(server, token, 380)).await;
        stream.send_data(body.clone(), true).expect("the stream takes data");
        sent.push(answer);
    }
    let mut unread = Unread { created: 0, answers: Vec::new() };
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

/// One token may have half of the permits.
#[tokio::test(flavor = "multi_thread")]
async fn answers_that_are_not_read_keep_their_permits_until_they_are_dropped() {
    let server = Server::starting().with(&["--max-creates", "64"]).start();
    let unread = unread_answers(&server, &server.token, 50).await;
    assert_eq!(unread.created, 32);
    assert!(!is_created(&server));
    drop(unread);
    server.wait_until("a permit", || is_created(&server));
}

/// Heads of about 14 kB (a field counts 32 bytes besides its name and its value: RFC 9113, section
/// 6.5.2), whose bodies do not come.
async fn waiting_heads(server: &Server, token: &str) -> Vec<impl Sized + use<>> {
    let client = without_window(server).await;
    let mut streams = Vec::new();
    for _ in 1..STREAMS {
        streams.push(open(&client, request(server, token, 380)).await);
    }
    // The answer to the last request says that the server has read the others.
    let (answer, _body) = open(&client, request(server, "x", 0)).await;
    assert_eq!(answer.await.expect("an answer").status(), 400);
    streams
}

/// Plants as large as they may be, all but the last byte of each, on a stream each.
async fn large_bodies(server: &Server, token: &str) -> Vec<(ResponseFuture, SendStream<Bytes>)> {
    let client = without_window(server).await;
    let name = "f".repeat(LIMIT - plant(3, "", None).len());
    let body = Bytes::from(plant(3, &name, None)).slice(..LIMIT - 1);
    let mut streams = Vec::new();
    for _ in 0..PERMITS / 2 / 3 {
        let (answer, mut stream) = open(&client, request(server, token, 0)).await;
        stream.send_data(body.clone(), false).expect("the stream takes data");
        streams.push((answer, stream));
    }
    streams
}

#[tokio::test(flavor = "multi_thread")]
async fn heads_large_bodies_and_unread_answers_stay_in_the_memory_of_the_readme() {
    let connections = amount(4, 100);
    // A thousand large plants may wait for longer than the default on a busy machine.
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
