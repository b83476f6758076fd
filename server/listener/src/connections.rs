//! The connections of clients: how many there are, and which of them are closed.
//!
//! hyper limits only the time of an HTTP/1.1 head. Without this module a connection would stay open
//! for ever if its first byte never comes, if it is HTTP/2 and sends nothing, if its TLS handshake
//! stops half way, or if its client takes no answer.
//!
//! Nothing here trusts that a client's address is that of the same connection as a second ago: a
//! connection is told from another one by the cookie of its socket (socket(7), `SO_COOKIE`).

use std::convert::Infallible;
use std::mem;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use foldhash::{HashMap, HashSet};
use metrics::{describe_gauge, gauge};
use nix::sys::socket::{Shutdown, shutdown};
use parking_lot::Mutex;
use slog::{Logger, info, warn};
use socket2::SockRef;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::descriptors::Descriptor;
use crate::limit::{ConnectionLimit, Look};
use crate::requests::{InFlight, Requests, Table};

/// How often the connections are looked at. If the time-out is short, more often.
const LOOK: Duration = Duration::from_secs(1);

/// How often they are looked at while the listener pauses. After an error Dropshot waits this long
/// before it accepts again.
const LOOK_WHILE_FULL: Duration = Duration::from_millis(100);

/// If there were fewer connections than the limit for this long, the log says again when it is
/// reached.
const CALM: Duration = Duration::from_secs(10);

const CONNECTIONS: &str = "plant_store_connections";

/// The connections of clients, and the requests on them.
pub struct Connections {
    requests: Arc<Requests>,
    /// Those that the last look has found.
    open: Mutex<HashMap<Ends, Open>>,
    /// Bounds them.
    pub limit: Arc<ConnectionLimit>,
}

/// Both addresses of a connection. There is no other one between them at the same time.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Ends {
    own: SocketAddr,
    client: SocketAddr,
}

/// A connection of a client.
#[derive(Clone, Copy)]
struct Open {
    /// The kernel gives no other socket the same one.
    cookie: u64,
    /// When a look found it first.
    found: Instant,
}

/// Why a connection is closed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reason {
    Idle,
    /// An answer was not taken in time.
    Untaken,
    /// It is new, and past the limit.
    Excess,
}

/// By what the connections are judged in one look.
struct Judge {
    idle_timeout: Duration,
    now: Instant,
    /// The clients that have not taken an answer in time.
    late: HashSet<SocketAddr>,
    /// How many new connections are still to be closed.
    excess: usize,
}

/// What a look has found.
#[derive(Default)]
struct Found {
    connections: usize,
    /// Whether there are as many as there may be.
    is_full: bool,
    /// The clients whose connections were closed because they did not take an answer.
    untaken: Vec<SocketAddr>,
}

impl Connections {
    /// No connections yet. Registers the metrics.
    pub fn register() -> Self {
        describe_gauge!(CONNECTIONS, "Open connections of clients, as of the last second.");
        gauge!(CONNECTIONS).set(0);
        Self { requests: Arc::default(), open: Mutex::default(), limit: Arc::default() }
    }

    /// A request has come from that client. It is in flight until this is dropped.
    pub fn request(&self, client: SocketAddr) -> InFlight {
        self.requests.begin(client)
    }

    /// Waits until no request is in flight. From now on nothing pauses or resumes the listener.
    pub async fn are_answered(&self) {
        self.limit.release();
        self.requests.are_answered().await;
    }

    /// Whether [`Self::are_answered`] was called, because the service stops.
    pub fn are_ending(&self) -> bool {
        self.requests.are_ending()
    }

    /// Pauses and resumes the listener. Closes the connections on which no accepted request was in
    /// flight for `idle_timeout`, those whose client has not taken an answer for so long, and new
    /// ones past the limit. Never ends.
    pub async fn watch(self: &Arc<Self>, idle_timeout: Duration, log: &Logger) -> Infallible {
        let pause = LOOK.min(idle_timeout / 4).max(LOOK / 100);
        let mut last_full = None::<Instant>;
        loop {
            let begin = Instant::now();
            let connections = Arc::clone(self);
            // A few system calls for each descriptor.
            let look = spawn_blocking(move || connections.look(idle_timeout, begin));
            let found = look.await.unwrap_or_default();
            for client in found.untaken {
                info!(log, "connection closed: its client did not take an answer in time";
                    "remote_addr" => %client);
            }
            if found.is_full {
                if last_full.is_none_or(|last| last.elapsed() > CALM) {
                    warn!(log, "connection limit reached; new connections wait";
                        "connections" => found.connections);
                }
                last_full = Some(Instant::now());
            }
            let shortest = if found.is_full { LOOK_WHILE_FULL.min(pause) } else { pause };
            // Many connections must not take a core only to be looked at.
            let pause = shortest.max(10 * begin.elapsed());
            let _ = timeout(pause, self.limit.accept_failed.notified()).await;
        }
    }

    /// Looks at all connections once, at the time `now`.
    fn look(&self, idle_timeout: Duration, now: Instant) -> Found {
        let Some(look) = self.limit.look() else { return Found::default() };
        gauge!(CONNECTIONS).set(u32::try_from(look.clients).unwrap_or(u32::MAX));
        let late = self.requests.lock().late_clients(idle_timeout, now);
        let judge = Judge { idle_timeout, now, late, excess: look.excess };
        let untaken = self.close_some(&look, judge);
        Found { connections: look.clients, is_full: look.is_full, untaken }
    }

    /// Closes what the judge says. Returns the clients that did not take an answer.
    fn close_some(&self, look: &Look, mut judge: Judge) -> Vec<SocketAddr> {
        let mut untaken = Vec::new();
        let mut open = mem::take(&mut *self.open.lock());
        let mut still_open = HashMap::default();
        let mut clients = HashSet::default();
        for descriptor in &look.sockets {
            let Some(ends) = Ends::of(descriptor) else { continue };
            clients.insert(ends.client);
            let known = open.remove(&ends);
            // No request is accepted while they are locked.
            let requests = self.requests.lock();
            let reason = judge.reason_to_close(ends.client, known.as_ref(), &requests);
            if let (Some(known), None) = (known, reason) {
                still_open.insert(ends, known);
                continue;
            }
            let Some(socket) = look.duplicator.duplicate(descriptor) else {
                // Without a free descriptor it is not closed before the next look.
                still_open.extend(known.map(|known| (ends, known)));
                continue;
            };
            let Ok(cookie) = SockRef::from(&socket).cookie() else { continue };
            still_open.insert(ends, Open { cookie, found: judge.now });
            let is_the_same = known.is_none_or(|known| known.cookie == cookie);
            let Some(reason) = reason.filter(|_| is_the_same) else { continue };
            // An error says that it is closed already.
            let _ = shutdown(socket.as_raw_fd(), Shutdown::Both);
            match reason {
                Reason::Idle => {}
                Reason::Untaken => untaken.push(ends.client),
                Reason::Excess => judge.excess -= 1,
            }
        }
        *self.open.lock() = still_open;
        self.requests.lock().retain(|client| clients.contains(client));
        untaken
    }
}

impl Judge {
    /// Two connections from one port, to two addresses of this machine, share their requests.
    fn reason_to_close(
        &self,
        client: SocketAddr,
        known: Option<&Open>,
        requests: &Table,
    ) -> Option<Reason> {
        let Some(known) = known else { return (self.excess > 0).then_some(Reason::Excess) };
        if self.late.contains(&client) {
            return Some(Reason::Untaken);
        }
        let is_old = self.now.saturating_duration_since(known.found) >= self.idle_timeout;
        let is_idle = is_old && requests.are_idle(client, self.idle_timeout, self.now);
        is_idle.then_some(Reason::Idle)
    }
}

impl Ends {
    fn of(socket: &Descriptor) -> Option<Self> {
        Some(Self { own: socket.own?, client: socket.peer? })
    }
}

#[cfg(test)]
mod tests;
