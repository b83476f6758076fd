use std::net::{TcpListener, TcpStream};

use slog::{Discard, Logger, o};

use super::ConnectionLimit;

#[test]
fn accepted_connections_inherit_tcp_nodelay() {
    let log = Logger::root(Discard, o!());
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    let is_set = || {
        let _client = TcpStream::connect(address).expect("it listens");
        listener.accept().expect("a connection").0.nodelay().expect("an option of TCP")
    };
    assert!(!is_set());
    let limit = ConnectionLimit::default();
    limit.set(100, &log).expect("the hard limit allows it");
    limit.adopt(address, &log).expect("a descriptor of this process");
    assert!(is_set());
}
