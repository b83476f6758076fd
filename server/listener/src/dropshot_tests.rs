//! What this crate leans on in Dropshot, which promises none of it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use dropshot::{
    ApiDescription, ConfigDropshot, HttpError, HttpResponseOk, HttpServer, RequestContext,
    ServerBuilder, endpoint,
};
use nix::sys::socket::{Backlog, Shutdown, listen, shutdown};
use slog::{Discard, Drain, Logger, Never, OwnedKVList, Record, o};
use socket2::SockRef;
use tokio::runtime::Runtime;

use crate::descriptors::{self, Descriptor, Duplicator};
use crate::limit::ConnectionLimit;
use crate::logger::ACCEPT_FAILED;

/// After an error Dropshot waits this long before it accepts again.
const DROPSHOT_WAITS: Duration = Duration::from_millis(100);

/// More than the numbers of a test's descriptors.
const END: i32 = 1024;

/// Answers with the address of the client.
#[endpoint { method = GET, path = "/" }]
async fn client_address(
    context: RequestContext<()>,
) -> Result<HttpResponseOk<SocketAddr>, HttpError> {
    Ok(HttpResponseOk(context.request.remote_addr()))
}

fn start(log: &Logger) -> HttpServer<()> {
    let mut api = ApiDescription::new();
    api.register(client_address).expect("a valid endpoint");
    let config = ConfigDropshot {
        bind_address: "127.0.0.1:0".parse().expect("an address"),
        ..ConfigDropshot::default()
    };
    ServerBuilder::new(api, (), log.clone()).config(config).start().expect("a free port")
}

fn quiet() -> Logger {
    Logger::root(Discard, o!())
}

/// A second descriptor of the socket with these addresses.
fn duplicate(local: SocketAddr, peer: Option<SocketAddr>) -> Option<OwnedFd> {
    let is_it = |socket: &Descriptor| socket.local == Some(local) && socket.peer == peer;
    let found = descriptors::open_below(END).into_iter().find(is_it)?;
    Duplicator::new().expect("descriptors are free").duplicate(&found)
}

/// A connection that Dropshot has accepted, because it has answered a request.
fn accepted(server: SocketAddr) -> TcpStream {
    let mut connection = TcpStream::connect(server).expect("it listens");
    connection.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").expect("it reads");
    let expected = connection.local_addr().expect("it is bound").to_string();
    let mut answer = String::new();
    while !answer.contains(&expected) {
        let mut byte = [0];
        connection.read_exact(&mut byte).expect("the answer holds the client's address");
        answer.extend(byte.map(char::from));
    }
    connection
}

#[tokio::test(flavor = "multi_thread")]
async fn dropshot_tells_a_request_the_address_of_its_connections_peer() {
    let server = start(&quiet());
    accepted(server.local_addr());
}

#[tokio::test(flavor = "multi_thread")]
async fn dropshot_keeps_the_tcp_nodelay_that_a_connection_inherits_from_the_listener() {
    let log = quiet();
    let server = start(&log);
    let limit = ConnectionLimit::default();
    limit.set(100, &log).expect("the hard limit allows it");
    limit.adopt(server.local_addr(), &log).expect("a descriptor of this process");
    let client = accepted(server.local_addr());
    let peer = client.local_addr().ok();
    let socket = duplicate(server.local_addr(), peer).expect("it is open");
    assert!(SockRef::from(&socket).tcp_nodelay().expect("an option of TCP"));
}

#[tokio::test(flavor = "multi_thread")]
async fn dropshot_closes_a_connection_whose_socket_was_shut_down() {
    let server = start(&quiet());
    let address = server.local_addr();
    let mut client = accepted(address);
    let peer = client.local_addr().ok();
    let socket = duplicate(address, peer).expect("it is open");
    shutdown(socket.as_raw_fd(), Shutdown::Both).expect("it is connected");
    drop(socket);
    client.read_to_end(&mut Vec::new()).expect("the end");
    while duplicate(address, peer).is_some() {
        tokio::task::yield_now().await;
    }
}

/// Otherwise a stop would not end the listener.
#[tokio::test(flavor = "multi_thread")]
async fn closed_dropshot_server_listens_until_the_limit_releases_its_listener() {
    let log = quiet();
    let server = start(&log);
    let address = server.local_addr();
    let limit = ConnectionLimit::default();
    limit.set(100, &log).expect("the hard limit allows it");
    limit.adopt(address, &log).expect("a descriptor of this process");
    server.close().await.expect("it stops");
    TcpStream::connect(address).expect("the socket listens");
    limit.release();
    TcpStream::connect(address).expect_err("nobody listens");
}

/// A drain that says when accept(2) has failed, and then waits.
struct Waiting {
    failed: Sender<()>,
    go_on: Mutex<Receiver<()>>,
}

impl Drain for Waiting {
    type Ok = ();
    type Err = Never;

    fn log(&self, record: &Record<'_>, _: &OwnedKVList) -> Result<(), Never> {
        if record.msg().as_str() == Some(ACCEPT_FAILED) {
            let _ = self.failed.send(());
            let _ = self.go_on.lock().expect("no test panics here").recv();
        }
        Ok(())
    }
}

#[test]
fn dropshot_reports_a_failed_accept_and_accepts_nothing_until_its_logger_returns() {
    let (failed, has_failed) = channel();
    let (go_on, may_go_on) = channel();
    let drain = Waiting { failed, go_on: Mutex::new(may_go_on) };
    let runtime = Runtime::new().expect("threads");
    let in_runtime = runtime.enter();
    let server = start(&Logger::root(drain.ignore_res(), o!()));
    drop(in_runtime);
    let socket = duplicate(server.local_addr(), None).expect("it listens");
    // accept(2) fails on a socket that does not listen.
    shutdown(socket.as_raw_fd(), Shutdown::Both).expect("it listens");
    has_failed.recv().expect("a record");
    listen(&socket, Backlog::new(100).expect("a small number")).expect("it is bound");
    let listener = TcpListener::from(socket);
    // The port may be another one now.
    let address = listener.local_addr().expect("it is bound");
    let begin = Instant::now();
    let mut is_left = true;
    while is_left && begin.elapsed() < 3 * DROPSHOT_WAITS {
        let _client = TcpStream::connect(address).expect("it listens again");
        // The socket does not block, so this fails if Dropshot has accepted the connection.
        is_left = listener.accept().is_ok();
    }
    drop(go_on);
    // Dropshot accepts without a pause from a socket that was shut down.
    runtime.shutdown_background();
    assert!(is_left, "Dropshot has accepted a connection");
}
