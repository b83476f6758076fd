//! The connections of clients: how many there are, and which have said nothing for too long.
//!
//! Dropshot keeps its connections to itself, and hyper limits the time of an HTTP/1.1 head alone. A
//! first byte that never comes, an HTTP/2 connection that never speaks, a TLS handshake that stops
//! half way would each stay for ever. But their sockets are descriptors of this process, and the
//! kernel tells the addresses of both ends of each.

use std::net::SocketAddr;
use std::os::fd::RawFd;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use foldhash::HashMap;
use metrics::{Gauge, describe_gauge, gauge};
use nix::sys::socket::{Shutdown, SockaddrStorage, getpeername, getsockname, shutdown};
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::descriptors;

const CONNECTIONS: &str = "plant_store_connections";

/// What is known of each connection, by the client's address.
pub struct Connections {
    known: Mutex<HashMap<SocketAddr, Activity>>,
    /// The requests that are not answered yet.
    requests: TaskTracker,
    count: Gauge,
}

struct Activity {
    requests: usize,
    /// When the connection was first seen, or its last request was answered.
    quiet_since: Instant,
}

/// A request that is not answered yet.
pub struct InFlight<'a> {
    connections: &'a Connections,
    client: SocketAddr,
    _request: TaskTrackerToken,
}

impl Connections {
    /// No connections yet. Registers the metrics.
    #[must_use]
    pub fn register() -> Self {
        describe_gauge!(CONNECTIONS, "Open connections of clients, as of the last second.");
        Self { known: Mutex::default(), requests: TaskTracker::new(), count: gauge!(CONNECTIONS) }
    }

    /// A request has come from that client. It is in flight until this is dropped.
    pub fn request(&self, client: SocketAddr) -> InFlight<'_> {
        let quiet = Activity { requests: 0, quiet_since: Instant::now() };
        self.known().entry(client).or_insert(quiet).requests += 1;
        InFlight { connections: self, client, _request: self.requests.token() }
    }

    /// Waits until no request is in flight.
    pub async fn are_answered(&self) {
        self.requests.close();
        self.requests.wait().await;
    }

    /// Whether somebody waits for the last answers.
    pub fn are_ending(&self) -> bool {
        self.requests.is_closed()
    }

    /// Closes the connections to `listener` on which no request was in flight for so long. Returns
    /// how many there are.
    pub async fn close_idle(&self, listener: SocketAddr, idle_timeout: Duration) -> usize {
        // Two system calls for each descriptor.
        match tokio::task::spawn_blocking(move || sockets(listener)).await {
            Ok(sockets) => self.close_idle_of(&sockets, idle_timeout),
            Err(_) => 0,
        }
    }

    fn close_idle_of(&self, sockets: &HashMap<SocketAddr, RawFd>, idle_timeout: Duration) -> usize {
        let mut known = self.known();
        // A request whose connection is gone ends itself.
        known.retain(|client, activity| activity.requests > 0 || sockets.contains_key(client));
        for (client, socket) in sockets {
            let quiet = Activity { requests: 0, quiet_since: Instant::now() };
            let activity = known.entry(*client).or_insert(quiet);
            if activity.requests == 0 && activity.quiet_since.elapsed() >= idle_timeout {
                // An error says that it is closed already.
                let _ = shutdown(*socket, Shutdown::Both);
            }
        }
        self.count.set(u32::try_from(sockets.len()).unwrap_or(u32::MAX));
        sockets.len()
    }

    fn known(&self) -> MutexGuard<'_, HashMap<SocketAddr, Activity>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        if let Some(activity) = self.connections.known().get_mut(&self.client) {
            activity.requests -= 1;
            activity.quiet_since = Instant::now();
        }
    }
}

/// The sockets of the connections to a listener, by their clients' addresses.
fn sockets(listener: SocketAddr) -> HashMap<SocketAddr, RawFd> {
    let is_of_listener = |fd: RawFd| own_address(fd).is_some_and(|it| it.port() == listener.port());
    let client = |fd: RawFd| {
        let client = address(getpeername(fd).ok()?)?;
        is_of_listener(fd).then_some((client, fd))
    };
    (0..descriptors::end()).filter_map(client).collect()
}

/// The address of this end of a socket of TCP.
#[must_use]
pub fn own_address(socket: RawFd) -> Option<SocketAddr> {
    address(getsockname(socket).ok()?)
}

fn address(socket: SockaddrStorage) -> Option<SocketAddr> {
    let v4 = socket.as_sockaddr_in().map(|it| SocketAddr::V4((*it).into()));
    v4.or_else(|| socket.as_sockaddr_in6().map(|it| SocketAddr::V6((*it).into())))
}
