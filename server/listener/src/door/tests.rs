use std::net::{TcpListener, TcpStream};

use parking_lot::Mutex;
use slog::Discard;

use super::{Door, FIRST_END, Logger, State, o};

#[test]
fn accepted_connections_inherit_tcp_nodelay() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    let is_set = || {
        let _client = TcpStream::connect(address).expect("it listens");
        listener.accept().expect("a connection").0.nodelay().expect("an option of TCP")
    };
    assert!(!is_set());
    let state = Mutex::new(State { end: FIRST_END, ..State::default() });
    let door = Door { state, ..Door::default() };
    door.guard(address, &Logger::root(Discard, o!())).expect("a descriptor of this process");
    assert!(is_set());
}
