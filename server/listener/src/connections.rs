//! The connections of clients: how many there are, and which have been idle for too long.
//!
//! hyper limits only the time of an HTTP/1.1 head. Without this module a connection would stay open
//! for ever if its first byte never comes, if it is HTTP/2 and sends nothing, or if its TLS
//! handshake stops half way.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use foldhash::{HashMap, HashSet};
use metrics::{describe_gauge, gauge};
use nix::sys::socket::{Shutdown, shutdown};
use parking_lot::Mutex;
use slog::{Logger, warn};
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::door::Door;

/// How often the connections are looked at. If the time-out is short, more often.
const LOOK: Duration = Duration::from_secs(1);

/// How often they are looked at while the door is shut. After an error Dropshot waits this long
/// before it accepts again.
const LOOK_FOR_A_PLACE: Duration = Duration::from_millis(100);

/// If there were free places for this long, the log says again when there are none.
const CALM: Duration = Duration::from_secs(10);

const CONNECTIONS: &str = "plant_store_connections";

/// What requests tell about their connections, and the door that lets connections in.
pub struct Connections {
    /// By the client's address: a request knows nothing else of its connection.
    requests: Mutex<HashMap<SocketAddr, Requests>>,
    unanswered: TaskTracker,
    /// Lets connections in, or keeps them out.
    pub door: Arc<Door>,
}

/// The connection of a client, and its requests.
#[derive(Default)]
struct Requests {
    unanswered: usize,
    /// When the connection was first seen without a request in flight, or the last one was answered.
    idle_since: Option<Instant>,
    /// Whether a look has found the connection.
    is_seen: bool,
}

/// A request that is not answered yet.
pub struct InFlight {
    connections: Arc<Connections>,
    client: SocketAddr,
    _request: TaskTrackerToken,
}

impl Connections {
    /// No connections yet. Registers the metrics.
    pub fn register() -> Self {
        describe_gauge!(CONNECTIONS, "Open connections of clients, as of the last second.");
        gauge!(CONNECTIONS).set(0);
        Self { requests: Mutex::default(), unanswered: TaskTracker::new(), door: Arc::default() }
    }

    /// A request has come from that client. It is in flight until this is dropped.
    pub fn request(self: &Arc<Self>, client: SocketAddr) -> InFlight {
        self.requests.lock().entry(client).or_default().unanswered += 1;
        InFlight { connections: Arc::clone(self), client, _request: self.unanswered.token() }
    }

    /// Waits until no request is in flight. From now on nothing opens or shuts the door.
    pub async fn are_answered(&self) {
        self.door.release();
        self.unanswered.close();
        self.unanswered.wait().await;
    }

    /// Whether [`Self::are_answered`] was called, because the service stops.
    pub fn are_ending(&self) -> bool {
        self.unanswered.is_closed()
    }

    /// Opens and shuts the door, and closes the connections on which no request was in flight for
    /// `idle_timeout`, and new ones past the bound. Never ends.
    pub async fn watch(self: &Arc<Self>, idle_timeout: Duration, log: &Logger) -> Infallible {
        let pause = LOOK.min(idle_timeout / 4).max(LOOK / 100);
        let mut last_shut = None::<Instant>;
        loop {
            let (connections, begin) = (Arc::clone(self), Instant::now());
            // A few system calls for each descriptor.
            let look = spawn_blocking(move || connections.look(idle_timeout));
            let (count, are_taken) = look.await.unwrap_or_default();
            if are_taken {
                if last_shut.is_none_or(|last| last.elapsed() > CALM) {
                    warn!(log, "connection limit reached; new connections wait";
                        "connections" => count);
                }
                last_shut = Some(Instant::now());
            }
            let pause = if are_taken { LOOK_FOR_A_PLACE.min(pause) } else { pause };
            // Many connections must not take a core only to be looked at.
            let pause = pause.max(10 * begin.elapsed());
            let _ = timeout(pause, self.door.failed.notified()).await;
        }
    }

    /// Returns how many connections there are, and whether all places are taken.
    fn look(&self, idle_timeout: Duration) -> (usize, bool) {
        let Some(look) = self.door.look() else { return (0, false) };
        gauge!(CONNECTIONS).set(u32::try_from(look.clients).unwrap_or(u32::MAX));
        let mut excess = look.excess;
        let mut clients = HashSet::default();
        for socket in look.sockets {
            let Some(client) = socket.peer else { continue };
            clients.insert(client);
            // No request can come while they are locked. Two connections from one port, to two
            // addresses of this machine, are idle together.
            let mut requests = self.requests.lock();
            let it = requests.entry(client).or_default();
            let is_excess = excess > 0 && !it.is_seen;
            excess -= usize::from(is_excess);
            it.is_seen = true;
            let is_idle = it.unanswered == 0
                && it.idle_since.get_or_insert_with(Instant::now).elapsed() >= idle_timeout;
            if (is_idle || is_excess)
                && let Some(socket) = socket.duplicate()
            {
                // An error says that it is closed already.
                let _ = shutdown(socket.as_raw_fd(), Shutdown::Both);
                if is_idle {
                    // The next connection from that port has a time of its own.
                    requests.remove(&client);
                }
            }
        }
        // A request whose connection is gone ends itself.
        self.requests.lock().retain(|client, it| it.unanswered > 0 || clients.contains(client));
        (look.clients, look.are_taken)
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        if let Some(requests) = self.connections.requests.lock().get_mut(&self.client) {
            requests.unanswered -= 1;
            requests.idle_since = Some(Instant::now());
        }
    }
}
