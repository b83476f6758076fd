//! Which connections are counted, closed and accepted. The service decides by both addresses of a
//! connection, and by its age.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use plant_store_tests::process::allow_many_files;
use plant_store_tests::{Connection, Folder, Server, amount, binary_in, failure, plant};
use tokio::io::AsyncReadExt;
use tokio::net::TcpSocket;
use tokio::time::timeout;

use crate::metrics::{scrape, series};

/// How long a client of a crowd waits for something before it looks whether the crowd is over.
const PATIENCE: Duration = Duration::from_millis(200);

/// Clients that connect, say nothing, and connect again when they are cut off.
pub struct Crowd {
    is_over: Arc<AtomicBool>,
    clients: Vec<JoinHandle<()>>,
}

impl Crowd {
    /// As many clients as `clients` says.
    pub fn of(clients: usize, address: SocketAddr) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let client = |_| {
            let is_over = Arc::clone(&is_over);
            thread::spawn(move || {
                while !is_over.load(Relaxed) {
                    let connected = TcpStream::connect_timeout(&address, PATIENCE);
                    let Ok(connection) = connected else { continue };
                    let patience = connection.set_read_timeout(Some(PATIENCE));
                    patience.expect("a time-out can be set");
                    while !is_over.load(Relaxed)
                        && (connection.peek(&mut [0]))
                            .is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
                    {
                    }
                }
            })
        };
        let clients = (0..clients).map(client).collect();
        Self { is_over, clients }
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        self.is_over.store(true, Relaxed);
        for client in self.clients.drain(..) {
            let _ = client.join();
        }
    }
}

/// Creates a plant as a client does that waits to be accepted: a connection that is closed without
/// an answer is opened again.
pub fn create_late(server: &Server, body: &str) {
    let request = server.post(body);
    let attempt = || {
        let mut connection = server.connect();
        if connection.try_send(&request) { connection.try_receive() } else { None }
    };
    std::iter::repeat_with(attempt).flatten().next().expect("an answer").plant();
}

/// How many connections of clients the service counts.
pub fn count(operators: SocketAddr) -> usize {
    series(&scrape(operators))["plant_store_connections"].parse().expect("a number")
}

/// A connection from that address, whose end resets it.
async fn connection(from: SocketAddr, to: SocketAddr) -> tokio::net::TcpStream {
    loop {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_zero_linger().expect("an option of sockets");
        socket.set_reuseaddr(true).expect("an option of sockets");
        socket.bind(from).expect("the port is free");
        match socket.connect(to).await {
            // A process that another test starts has the last connection open until its exec.
            Err(error) if error.kind() == ErrorKind::AddrNotAvailable => {}
            connected => return connected.expect("the server listens"),
        }
    }
}

fn local(last: u8, port: u16) -> SocketAddr {
    (IpAddr::from(Ipv4Addr::new(127, 0, 0, last)), port).into()
}

/// A port that is free on all loopback addresses.
fn free_port() -> u16 {
    let listener = TcpListener::bind("0.0.0.0:0").expect("a free port");
    listener.local_addr().expect("it is bound").port()
}

#[tokio::test]
async fn new_connection_from_a_port_that_was_just_used_has_its_own_idle_time() {
    const IDLE: Duration = Duration::from_secs(1);
    let server = Server::starting().with(&["--idle-timeout", "1s"]).start();
    let from = local(1, free_port());
    for _ in 0..3 {
        let begin = Instant::now();
        let mut silent = connection(from, server.address).await;
        // It is closed after its time.
        assert_eq!(silent.read(&mut [0]).await.expect("the end"), 0);
        assert!(begin.elapsed() >= IDLE, "closed after {:?}", begin.elapsed());
    }
}

/// Each is reset shortly before its idle time has passed, and the next one takes its port before
/// the server has looked.
#[tokio::test(flavor = "multi_thread")]
async fn new_connections_from_the_ports_of_reset_ones_are_never_closed_before_their_idle_time() {
    const IDLE: Duration = Duration::from_secs(1);
    let clients = amount(200, 800);
    let rounds = amount(3, 20);
    allow_many_files().expect("the soft limit can be raised");
    let flags = ["--idle-timeout", "1s", "--max-connections", "1000"];
    let server = Server::starting().with(&flags).start();
    let address = server.address;
    let client = |number: usize| async move {
        let from = local(1, free_port());
        for round in 0..rounds {
            let more = u64::try_from((37 * round + number) % 150).expect("it is small");
            let stays = Duration::from_millis(850 + more);
            let begin = Instant::now();
            let mut silent = connection(from, address).await;
            let end = timeout(stays, silent.read(&mut [0])).await;
            assert!(end.is_err() || begin.elapsed() >= IDLE, "after {:?}", begin.elapsed());
        }
    };
    let clients: Vec<_> = (0..clients).map(|number| tokio::spawn(client(number))).collect();
    let mut closed = 0;
    for client in clients {
        closed += usize::from(client.await.is_err());
    }
    assert_eq!(closed, 0, "connections are closed too early");
}

#[test]
fn connections_of_operators_are_not_clients_also_if_both_listeners_share_a_port_number() {
    let port = free_port();
    let operators = local(2, port);
    let [api, metrics] = [local(1, port), operators].map(|address| address.to_string());
    let flags = ["--listen", &api, "--metrics", &metrics, "--idle-timeout", "1s"];
    let server = Server::starting().with(&flags).start();
    let _silent: Vec<_> = (0..5).map(|_| Connection::open(operators)).collect();
    let mut client = server.connect();
    client.exchange(&server.post(&plant(1, "Ficus", None))).plant();
    server.wait_until("the client is counted", || count(operators) > 0);
    assert_eq!(count(operators), 1);
    client.wait_until_closed();
    server.wait_until("the client is gone", || count(operators) == 0);
}

/// The service would listen, and be deaf.
#[test]
fn system_that_attaches_packet_filters_and_does_not_detach_them_ends_the_start() {
    let folder = Folder::new();
    let library = folder.path().join("no_detach.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/e2e/no_filters.c");
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-DREFUSED=SO_DETACH_FILTER", source, "-o"]).arg(&library);
    assert!(cc.status().expect("there is a C compiler").success());
    let mut serve = binary_in(folder.path());
    serve.args(["serve", "--listen", "127.0.0.1:0"]).env("LD_PRELOAD", &library);
    let (status, said) = failure(&mut serve);
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("SO_DETACH_FILTER beside SO_ATTACH_FILTER"), "{said}");
}
