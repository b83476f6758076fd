//! Which descriptors are free before the connections are first looked at. This test takes all that
//! are free, so it has a process of its own.

use std::iter;
use std::net::TcpListener;

use plant_store_listener::limit::ConnectionLimit;
use slog::{Discard, Logger, o};

#[test]
fn adopted_listener_leaves_a_descriptor_for_each_connection_and_four_more() {
    let log = Logger::root(Discard, o!());
    let limit = ConnectionLimit::default();
    limit.set(10, &log).expect("the hard limit allows it");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    limit.adopt(address, &log).expect("a descriptor of this process");
    let free: Vec<_> = iter::from_fn(|| listener.try_clone().ok()).collect();
    assert_eq!(free.len(), 10 + 4);
}
