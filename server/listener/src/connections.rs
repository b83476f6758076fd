//! The connections of clients: how many there are, and which of them are closed.
//!
//! hyper limits only the time of an HTTP/1.1 head. Without this module a connection would stay open
//! for ever if its first byte never comes, if it is HTTP/2 and sends nothing, if its TLS handshake
//! stops half way, or if its client takes no answer.
//!
//! Nothing here trusts that a client's address is that of the same connection as a second ago. It
//! is the same connection if its socket has the same cookie (socket(7), `SO_COOKIE`).

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

use crate::descriptors::{Descriptor, Duplicator};
use crate::limit::{ConnectionLimit, Look};
use crate::requests::{InFlight, Requests, Table};

/// How often the connections are looked at. If the time-out is short, more often.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// How often they are looked at while the listener pauses. After an error Dropshot waits this long
/// before it accepts again.
const LOOK_INTERVAL_WHILE_FULL: Duration = Duration::from_millis(100);

/// If there were fewer connections than the limit for this long, the log says again when it is
/// reached.
const CALM: Duration = Duration::from_secs(10);

/// The name of the metric.
const METRIC: &str = "plant_store_connections";

/// The connections of clients, and the requests on them.
pub struct Connections {
    requests: Arc<Requests>,
    /// Those that the last look has found.
    open: Mutex<HashMap<Ends, Open>>,
    /// How many there may be.
    pub limit: Arc<ConnectionLimit>,
}

/// Both addresses of a connection. There is no other one between them at the same time.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Ends {
    local: SocketAddr,
    client: SocketAddr,
}

/// A connection of a client.
#[derive(Clone, Copy)]
struct Open {
    /// The kernel gives no other socket the same one.
    cookie: u64,
    /// When a look found it first, or closed it.
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

/// Closes connections in one look.
struct Closer {
    duplicator: Arc<Duplicator>,
    idle_timeout: Duration,
    now: Instant,
    /// The clients that have not taken an answer in time.
    late: HashSet<SocketAddr>,
    /// How many new connections are still to be closed.
    excess: usize,
    /// The clients whose connections were closed because they did not take an answer.
    untaken: Vec<SocketAddr>,
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
        describe_gauge!(METRIC, "Open connections of clients, as of the last second.");
        gauge!(METRIC).set(0);
        Self { requests: Arc::default(), open: Mutex::default(), limit: Arc::default() }
    }

    /// A request has come from that client. It is in flight until this is dropped.
    pub fn request(&self, client: SocketAddr) -> InFlight {
        self.requests.begin(client)
    }

    /// Stops pausing and resuming the listener, and waits until no request is in flight. Does not
    /// wait until clients have taken their answers.
    pub async fn drain(&self) {
        self.limit.release();
        self.requests.drain().await;
    }

    /// Whether [`Self::drain`] was called, because the service stops.
    pub fn is_draining(&self) -> bool {
        self.requests.is_draining()
    }

    /// Pauses and resumes the listener. Closes the connections on which no admitted request was in
    /// flight for `idle_timeout`, those whose client has not taken an answer for that time, and new
    /// ones past the limit. Never ends.
    pub async fn watch(self: &Arc<Self>, idle_timeout: Duration, log: &Logger) -> Infallible {
        let interval = LOOK_INTERVAL.min(idle_timeout / 4).max(LOOK_INTERVAL / 100);
        let mut last_full = None::<Instant>;
        loop {
            let begin = Instant::now();
            let connections = Arc::clone(self);
            // A few system calls for each descriptor.
            let look = spawn_blocking(move || connections.look(idle_timeout, begin));
            // After a look that panicked, all connections are new to the next one.
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
            let longest = if found.is_full { LOOK_INTERVAL_WHILE_FULL } else { LOOK_INTERVAL };
            // Many connections must not take a core only to be looked at.
            let until_next = interval.min(longest).max(10 * begin.elapsed());
            let _ = timeout(until_next, self.limit.accept_failed.notified()).await;
        }
    }

    /// Looks at all connections once, at the time `now`.
    fn look(&self, idle_timeout: Duration, now: Instant) -> Found {
        let Some(look) = self.limit.look() else { return Found::default() };
        gauge!(METRIC).set(u32::try_from(look.clients).unwrap_or(u32::MAX));
        let late = self.requests.lock().late_clients(idle_timeout, now);
        let mut closer = Closer {
            duplicator: Arc::clone(&look.duplicator),
            idle_timeout,
            now,
            late,
            excess: look.excess,
            untaken: Vec::new(),
        };
        self.close_some(&look, &mut closer);
        Found { connections: look.clients, is_full: look.is_full, untaken: closer.untaken }
    }

    /// Closes the connections that [`Closer::reason_to_close`] names.
    fn close_some(&self, look: &Look, closer: &mut Closer) {
        let mut known = mem::take(&mut *self.open.lock());
        let mut seen = HashMap::default();
        let mut clients = HashSet::default();
        for socket in &look.sockets {
            let Some(ends) = Ends::of(socket) else { continue };
            clients.insert(ends.client);
            // No request is admitted while they are locked.
            let requests = self.requests.lock();
            let open = closer.visit(socket, ends.client, known.remove(&ends), &requests);
            seen.extend(open.map(|open| (ends, open)));
        }
        *self.open.lock() = seen;
        self.requests.lock().retain(|client| clients.contains(client));
    }
}

impl Closer {
    /// Closes the connection of that socket if there is a reason. Returns what is kept of the
    /// connection until the next look.
    fn visit(
        &mut self,
        socket: &Descriptor,
        client: SocketAddr,
        known: Option<Open>,
        requests: &Table,
    ) -> Option<Open> {
        let reason = self.reason_to_close(client, known.as_ref(), requests);
        if known.is_some() && reason.is_none() {
            return known;
        }
        // If no descriptor is free, the next look tries it again.
        let Some(socket) = self.duplicator.duplicate(socket) else { return known };
        let cookie = SockRef::from(&socket).cookie().ok()?;
        let is_the_same = known.is_none_or(|known| known.cookie == cookie);
        if let Some(reason) = reason.filter(|_| is_the_same) {
            // An error says that it is closed already.
            let _ = shutdown(socket.as_raw_fd(), Shutdown::Both);
            self.count_closed(client, reason);
        }
        // Also if it was closed: the next look may find it still, and must not take it for new.
        Some(Open { cookie, found: self.now })
    }

    /// Why the connection is to be closed, if it is.
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
        // Two connections from one port, to two addresses of this machine, share their requests.
        let is_idle = is_old && requests.is_idle(client, self.idle_timeout, self.now);
        is_idle.then_some(Reason::Idle)
    }

    fn count_closed(&mut self, client: SocketAddr, reason: Reason) {
        match reason {
            Reason::Idle => {}
            Reason::Untaken => self.untaken.push(client),
            Reason::Excess => self.excess -= 1,
        }
    }
}

impl Ends {
    fn of(socket: &Descriptor) -> Option<Self> {
        Some(Self { local: socket.local?, client: socket.peer? })
    }
}

#[cfg(test)]
mod tests;
