use std::io::{ErrorKind, Read};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use slog::{Discard, Logger, o};
use socket2::{Domain, Socket, Type};

use super::Connections;

const IDLE: Duration = Duration::from_hours(1);
const MINUTE: Duration = Duration::from_mins(1);
/// A minute less than [`IDLE`].
const SHORTER: Duration = Duration::from_mins(59);

/// A listener of this process, whose connections are looked at.
struct Service {
    listener: TcpListener,
    address: SocketAddr,
    connections: Connections,
    begin: Instant,
}

/// Both sides of a connection.
struct Pair {
    client: TcpStream,
    accepted: TcpStream,
}

impl Service {
    fn start() -> Self {
        let log = Logger::root(Discard, o!());
        let listener = TcpListener::bind("0.0.0.0:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let connections = Connections::register();
        connections.limit.set(100, &log).expect("the hard limit allows it");
        connections.limit.adopt(address, &log).expect("a descriptor of this process");
        Self { listener, address, connections, begin: Instant::now() }
    }

    /// A connection from that port of 127.0.0.1, or from any free one if it is 0. Its client resets
    /// it when it is dropped.
    fn connect_from(&self, port: u16, to: [u8; 4]) -> Pair {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
        socket.set_reuse_address(true).expect("an option of sockets");
        socket.set_linger(Some(Duration::ZERO)).expect("an option of sockets");
        let from = SocketAddr::from(([127, 0, 0, 1], port));
        socket.bind(&from.into()).expect("the port is free");
        let to = SocketAddr::from((to, self.address.port()));
        socket.connect(&to.into()).expect("it listens");
        let (accepted, _) = self.listener.accept().expect("a connection");
        Pair { client: socket.into(), accepted }
    }

    fn connect(&self) -> Pair {
        self.connect_from(0, [127, 0, 0, 1])
    }

    /// Looks at the connections `time` after the start. Returns the clients whose connections were
    /// closed because they did not take an answer.
    fn look_after(&self, time: Duration) -> Vec<SocketAddr> {
        self.connections.look(IDLE, self.begin + time).untaken
    }
}

impl Pair {
    fn client(&self) -> SocketAddr {
        self.client.local_addr().expect("it is bound")
    }

    fn is_open(&self) -> bool {
        self.client.set_nonblocking(true).expect("an option of sockets");
        self.client.peek(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    }

    /// Resets the connection, and waits until the server's side knows it. Returns its client's
    /// port.
    fn reset(mut self) -> u16 {
        let port = self.client().port();
        drop(self.client);
        let read = self.accepted.read(&mut [0]);
        assert_eq!(read.expect_err("a reset").kind(), ErrorKind::ConnectionReset);
        port
    }
}

#[test]
fn connection_without_a_request_is_closed_after_its_idle_time() {
    let service = Service::start();
    let connection = service.connect();
    service.look_after(Duration::ZERO);
    service.look_after(SHORTER);
    assert!(connection.is_open());
    service.look_after(IDLE);
    assert!(!connection.is_open());
}

#[test]
fn new_connection_from_the_port_of_one_that_was_reset_is_not_closed_with_it() {
    let service = Service::start();
    let old = service.connect();
    service.look_after(Duration::ZERO);
    let port = old.reset();
    let new = service.connect_from(port, [127, 0, 0, 1]);
    service.look_after(IDLE);
    assert!(new.is_open());
    service.look_after(IDLE + SHORTER);
    assert!(new.is_open());
    service.look_after(2 * IDLE);
    assert!(!new.is_open());
}

#[test]
fn new_connection_is_not_closed_for_an_answer_that_the_last_one_from_its_port_left() {
    let service = Service::start();
    let old = service.connect();
    service.look_after(Duration::ZERO);
    let _untaken = service.connections.request(old.client()).answer();
    let new = service.connect_from(old.reset(), [127, 0, 0, 1]);
    assert_eq!(service.look_after(IDLE + MINUTE), []);
    assert!(new.is_open());
}

#[test]
fn two_connections_from_one_port_to_two_addresses_are_both_closed_if_idle() {
    let service = Service::start();
    let one = service.connect();
    let other = service.connect_from(one.client().port(), [127, 0, 0, 2]);
    service.look_after(Duration::ZERO);
    service.look_after(IDLE);
    assert!(!one.is_open());
    assert!(!other.is_open());
}

#[test]
fn connection_whose_requests_are_refused_is_closed_after_its_idle_time() {
    let service = Service::start();
    let connection = service.connect();
    service.look_after(Duration::ZERO);
    let _in_flight = service.connections.request(connection.client());
    drop(service.connections.request(connection.client()));
    service.look_after(IDLE);
    assert!(!connection.is_open());
}

#[test]
fn admitted_request_in_flight_keeps_its_connection_open() {
    let service = Service::start();
    let connection = service.connect();
    service.look_after(Duration::ZERO);
    let mut in_flight = service.connections.request(connection.client());
    in_flight.admit();
    service.look_after(2 * IDLE);
    assert!(connection.is_open());
}

#[test]
fn idle_time_of_a_connection_begins_when_its_last_admitted_request_is_answered() {
    let service = Service::start();
    let connection = service.connect();
    service.look_after(Duration::ZERO);
    let mut in_flight = service.connections.request(connection.client());
    in_flight.admit();
    drop(in_flight);
    // It was answered after the start.
    service.look_after(IDLE);
    assert!(connection.is_open());
    service.look_after(IDLE + MINUTE);
    assert!(!connection.is_open());
}

/// Each answer has its time, so a client cannot keep one by taking others.
#[test]
fn answer_that_is_not_taken_closes_its_connection_although_others_are_taken() {
    let service = Service::start();
    let connection = service.connect();
    let other = service.connect();
    service.look_after(Duration::ZERO);
    let answer = |pair: &Pair| {
        let mut in_flight = service.connections.request(pair.client());
        in_flight.admit();
        in_flight.answer()
    };
    let _untaken = answer(&connection);
    drop(answer(&connection));
    drop(answer(&other));
    let mut requests = [&connection, &other].map(|it| service.connections.request(it.client()));
    for request in &mut requests {
        request.admit();
    }
    assert_eq!(service.look_after(SHORTER), []);
    assert!(connection.is_open());
    assert_eq!(service.look_after(IDLE + MINUTE), [connection.client()]);
    assert!(!connection.is_open());
    assert!(other.is_open());
}

#[test]
fn nothing_is_kept_of_a_client_whose_connection_is_gone() {
    let service = Service::start();
    let connection = service.connect();
    let mut in_flight = service.connections.request(connection.client());
    in_flight.admit();
    drop(in_flight);
    service.look_after(Duration::ZERO);
    assert!(service.connections.requests.lock().has(connection.client()));
    let client = connection.client();
    drop(connection);
    service.look_after(MINUTE);
    assert!(!service.connections.requests.lock().has(client));
    assert!(service.connections.open.lock().is_empty());
}
