use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::{Requests, Table};

impl Table {
    /// Whether anything is kept of that client.
    pub fn has(&self, client: SocketAddr) -> bool {
        self.by_client.contains_key(&client)
    }
}

#[test]
fn stop_waits_for_requests_that_are_refused_too_and_not_for_untaken_answers() {
    let requests = Arc::new(Requests::default());
    let client = ([127, 0, 0, 1], 8080).into();
    let refused = requests.begin(client);
    let mut in_flight = requests.begin(client);
    in_flight.admit();
    let mut stop = pin!(requests.drain());
    let mut context = Context::from_waker(Waker::noop());
    assert_eq!(stop.as_mut().poll(&mut context), Poll::Pending);
    let _untaken = in_flight.answer();
    assert_eq!(stop.as_mut().poll(&mut context), Poll::Pending);
    drop(refused);
    assert_eq!(stop.as_mut().poll(&mut context), Poll::Ready(()));
    assert!(requests.is_draining());
}
