//! Clients that send as much as they can, that make the service buffer as much as possible, and
//! that are more than the process may have open files. Honest clients create plants meanwhile,
//! every answer is declared by the contract, and the memory stays within the formula of
//! server/README.md.

use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};

use bytes::Bytes;
use h2::client::{Builder, ResponseFuture, SendRequest};
use h2::{RecvStream, SendStream};
use http::{Request, request};
use plant_store_tests::prelude::*;
use plant_store_tests::process::{allow_many_files, open_files, peak_memory_mib};

/// The maximum number of concurrent streams of a connection.
const STREAMS: usize = 200;

/// The default of `--max-creates`.
const PERMITS: usize = 1024;

/// The default of `--max-body`, in bytes and in MiB.
const MAX_BODY: usize = 64 * 1024;
const BODY_MIB: f64 = 64.0 / 1024.0;

/// Asserts that the peak memory is below the formula of server/README.md for that many connections,
/// with the default of `--max-creates`.
fn assert_peak(server: &Server, connections: usize) {
    let number = |number| f64::from(u32::try_from(number).expect("a small number"));
    let peak = peak_memory_mib(server.pid()).expect("the process is running");
    let limit = 60.0 + 0.75 * number(connections) + 3.0 * BODY_MIB * number(PERMITS);
    assert!(peak < limit, "peak {peak} MiB, limit {limit} MiB");
}

const HONEST: usize = 8;

/// A flood. Each thread repeats it until the time is up.
type Flood = fn(&Server, &AtomicBool);

/// Lets the honest clients create plants, each one after the other, until the time is up. Returns
/// the number of plants.
fn honest(server: &Server, clients: &mut [Connection], next: &AtomicI64) -> usize {
    let end = Instant::now() + Duration::from_millis(amount(500, 5000) as u64);
    let create = |connection: &mut Connection| {
        let mut created = 0;
        while Instant::now() < end {
            let id = next.fetch_add(1, Relaxed);
            connection.exchange(&server.post(&plant(id, "Ficus", None))).plant();
            created += 1;
        }
        created
    };
    thread::scope(|scope| {
        let start = |client| scope.spawn(move || create(client));
        let creating: Vec<_> = clients.iter_mut().map(start).collect();
        creating.into_iter().map(|client| client.join().expect("an honest client")).sum()
    })
}

/// Each row has the open files that the server may have, the threads of the flood, and the flood.
/// The honest clients connected before it.
#[test]
fn flood_costs_honest_clients_no_refusal_and_no_plant() {
    let table: [(&str, usize, usize, Flood); 4] = [
        ("requests without a token", 512, 4, |server, stop| {
            pipelined(server, stop, &head("Content-Length: 0\r\n"), 400);
        }),
        ("other paths", 512, 4, |server, stop| {
            let request = format!("GET /{} HTTP/1.1\r\nHost: plants\r\n\r\n", "x".repeat(1000));
            pipelined(server, stop, &request, 404);
        }),
        ("slow clients", 3000, 1, slow_clients),
        ("endless heads", 512, 2, endless_heads),
    ];
    allow_many_files().expect("the soft limit can be raised");
    each_row(table, |(name, files, threads, flood)| {
        let server = Server::starting().with_open_files(&format!("-n {files}")).start();
        let next = AtomicI64::new(1);
        let stop = AtomicBool::new(false);
        let mut clients: Vec<_> = (0..HONEST).map(|_| server.connect()).collect();
        let alone = honest(&server, &mut clients, &next);
        let beside = thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    while !stop.load(Relaxed) {
                        flood(&server, &stop);
                    }
                });
            }
            let beside = honest(&server, &mut clients, &next);
            stop.store(true, Relaxed);
            beside
        });
        // Parsing long heads takes most of the time from everybody else.
        let is_fair = beside * 20 > alone || name == "endless heads";
        assert!(is_fair, "{alone} creates alone, {beside} beside the flood");
        assert_peak(&server, files);
        let stored = server.export();
        assert!((1..next.into_inner()).all(|id| stored.contains_key(&id)), "a plant was lost");
    });
}

/// Sends the same request as fast as it can, many at a time. Neither Dropshot's router nor the
/// operation asks the store before it refuses one.
fn pipelined(server: &Server, stop: &AtomicBool, request: &str, status: u16) {
    const AT_ONCE: usize = 50;
    let mut connection = server.connect();
    while !stop.load(Relaxed) {
        connection.send(request.repeat(AT_ONCE).as_bytes());
        for _ in 0..AT_ONCE {
            assert_eq!(connection.receive().status, status);
        }
    }
}

/// A third of the clients send nothing. A third send part of a head, and a third part of a body;
/// then both go on byte by byte.
fn slow_clients(server: &Server, stop: &AtomicBool) {
    let length = "Content-Type: application/json\r\nContent-Length: 1000\r\n";
    let body = head(&(server.bearer() + length));
    let starts = ["", "POST /plants HTTP/1.1\r\nX: ", &body];
    let mut clients: Vec<_> = (0..amount(600, 1500)).map(|_| server.connect()).collect();
    for (client, start) in clients.iter_mut().zip(starts.iter().cycle()) {
        client.send(start.as_bytes());
    }
    // Connections are accepted in order, so after this answer all the others are accepted, too.
    server.create(&plant(-1, "Ficus", None)).plant();
    while !stop.load(Relaxed) {
        thread::sleep(Duration::from_millis(100));
        for (number, client) in clients.iter_mut().enumerate() {
            let _ = number % 3 == 0 || client.try_send(b" ");
        }
    }
}

/// Each client sends a head that never ends. Two threads run this, and their connections together
/// are fewer than the allowed open files.
fn endless_heads(server: &Server, stop: &AtomicBool) {
    let patience = Duration::from_millis(200);
    let connect = |_| {
        let stream = TcpStream::connect_timeout(&server.address, patience).ok()?;
        stream.set_write_timeout(Some(patience)).expect("a timeout can be set");
        Some(stream)
    };
    let mut heads: Vec<_> = (0..amount(100, 230)).filter_map(connect).collect();
    let piece = format!("X: {}\r\n", "x".repeat(16_000));
    let start = "POST /plants HTTP/1.1\r\nHost: plants\r\n";
    for bytes in [start].into_iter().chain([&*piece; 24]) {
        for head in &mut heads {
            if stop.load(Relaxed) {
                return;
            }
            let _ = head.write_all(bytes.as_bytes());
        }
    }
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

type Client = SendRequest<Bytes>;

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
    let stream = tokio::net::TcpStream::connect(server.address).await.expect("it listens");
    let connecting = Builder::new().initial_window_size(0).handshake(stream);
    let (requests, connection) = connecting.await.expect("the server speaks HTTP/2");
    // The task ends with the test, or with the last stream.
    tokio::spawn(connection);
    requests
}

/// A create of which the head and a part of the body were sent.
type Stream = (ResponseFuture, SendStream<Bytes>);

/// Opens a stream for each create, and sends its head and this part of its body.
async fn open(client: &Client, head: Request<()>, body: &Bytes, ends: bool) -> Stream {
    let mut client = client.clone().ready().await.expect("a stream");
    let (answer, mut stream) = client.send_request(head, false).expect("a stream");
    if !body.is_empty() {
        stream.send_data(body.clone(), ends).expect("the stream takes data");
    }
    (answer, stream)
}

/// Sends the same plant, nearly as large as allowed, on that many streams of one connection, and
/// does not read the bodies of the answers. Returns them, and the number of those with status 200.
async fn unread_answers(server: &Server, token: &str, streams: usize) -> (usize, Vec<RecvStream>) {
    let body = Bytes::from(plant(1, &"f".repeat(65_000), None));
    let client = connect_without_window(server).await;
    let mut sent = Vec::new();
    for _ in 0..streams {
        sent.push(open(&client, request(server, token, 380), &body, true).await);
    }
    let mut created = 0;
    let mut answers = Vec::new();
    for (answer, _) in sent {
        let (head, answer) = answer.await.expect("an answer").into_parts();
        assert!(head.status == 200 || head.headers["retry-after"] == "1", "{head:?}");
        created += usize::from(head.status == 200);
        answers.push(answer);
    }
    (created, answers)
}

fn is_created(server: &Server) -> bool {
    server.create(&plant(2, "Ficus", None)).status == 200
}

/// One token may hold half of the permits. A permit is free again when its answer is dropped.
#[tokio::test(flavor = "multi_thread")]
async fn unread_answers_hold_their_permits() {
    let server = Server::starting().with(&["--max-creates", "64"]).start();
    let (created, answers) = unread_answers(&server, &server.token, 50).await;
    assert_eq!(created, 32);
    assert!(!is_created(&server));
    drop(answers);
    server.wait_until("a permit", || is_created(&server));
}

/// Opens streams with heads of about 14 kB whose bodies never arrive. A field counts as 32 bytes
/// plus its name and its value (RFC 9113, section 6.5.2).
async fn waiting_heads(server: &Server, token: &str) -> Vec<Stream> {
    let client = connect_without_window(server).await;
    let mut streams = Vec::new();
    for _ in 1..STREAMS {
        streams.push(open(&client, request(server, token, 380), &Bytes::new(), false).await);
    }
    // The answer to the last request shows that the server has read the others.
    let (answer, _body) = open(&client, request(server, "x", 0), &Bytes::new(), false).await;
    assert_eq!(answer.await.expect("an answer").status(), 400);
    streams
}

/// Sends plants of the maximum size without their last byte, on a stream each.
async fn large_bodies(server: &Server, token: &str) -> Vec<Stream> {
    let client = connect_without_window(server).await;
    let name = "f".repeat(MAX_BODY - plant(3, "", None).len());
    let body = Bytes::from(plant(3, &name, None)).slice(..MAX_BODY - 1);
    let mut streams = Vec::new();
    for _ in 0..PERMITS / 2 / 3 {
        streams.push(open(&client, request(server, token, 0), &body, false).await);
    }
    streams
}

/// Unread answers and heads whose bodies never arrive hold their permits.
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
    assert_peak(&server, 6);

    let mut unread = Vec::new();
    for token in [tokens[0], tokens[1], tokens[1]] {
        let (created, answers) = unread_answers(&server, token, STREAMS).await;
        assert_eq!(created, STREAMS);
        unread.push(answers);
    }
    let mut heads = Vec::new();
    for number in 0..connections {
        heads.push(waiting_heads(&server, tokens[number % 2]).await);
    }
    assert!(!is_created(&server));
    assert_peak(&server, 9 + connections);
    drop((heads, unread));
    server.wait_until("a permit", || is_created(&server));
}
