//! The limit on connections: the listener accepts while there are fewer, and pauses while there are
//! as many as there may be.
//!
//! Nothing here closes a connection that Dropshot has accepted.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::RawFd;
use std::panic::RefUnwindSafe;
use std::sync::Arc;

use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};
use parking_lot::Mutex;
use slog::{Drain, Logger, Never, Record, SendSyncRefUnwindSafeDrain, o, warn};
use socket2::{SockFilter, SockRef};
use tokio::sync::Notify;

use crate::descriptors::{self, Descriptor, Duplicator};

/// How many descriptors are free for the service itself while the listener pauses: enough for the
/// connections of operators, and for a few files. A low hard limit is shared: clients get at least
/// half of it.
const RESERVE: usize = 128;

/// How many descriptors are free for the service while the listener accepts. Clients may take them
/// too.
const FEW: usize = 4;

/// What the service opens before its connections are first looked at: two listeners, two sessions
/// on a database, and what duplicates descriptors.
const AT_START: usize = 8;

/// How many descriptors are free for a look. It needs one at a time, and clients may take the
/// others before it.
const OF_A_LOOK: usize = 3;

/// Every descriptor is lower than this before the limit is set.
const FIRST_END: RawFd = 1024;

/// Drops every packet: "return 0" in the language of packet filters (`BPF_RET | BPF_K`,
/// <https://www.kernel.org/doc/html/latest/networking/filter.html>).
const DROP: SockFilter = SockFilter::new(0x06, 0, 0, 0);

/// What Dropshot says, in the loop that accepts, if accept(2) fails.
pub(crate) const ACCEPT_FAILED: &str = "accept error";

const NO_FILTER: &str = "this system lets no packet filter on the listener: when \
    --max-connections are open, the next ones are accepted, closed within a second, and may take \
    the descriptors that the service needs; allow SO_ATTACH_FILTER and SO_DETACH_FILTER \
    (setsockopt), with CAP_NET_ADMIN if the kernel asks for it, or have a proxy in front bound \
    the connections";

const NO_DETACH: &str = "this system attaches a packet filter to the listener, and does not detach \
    it, so no client could connect: allow SO_DETACH_FILTER beside SO_ATTACH_FILTER (setsockopt), \
    or refuse both";

/// A drain for Dropshot's records.
pub type Records = Arc<dyn SendSyncRefUnwindSafeDrain<Ok = (), Err = Never>>;

/// Bounds the connections of clients.
#[derive(Default)]
pub struct ConnectionLimit {
    state: Mutex<State>,
    /// Notified if accept(2) has failed.
    pub(crate) accept_failed: Notify,
}

#[derive(Default)]
struct State {
    /// While Dropshot's listener listens.
    adopted: Option<Adopted>,
    /// Whether the system takes packet filters. Without them the listener cannot pause.
    can_pause: bool,
    is_paused: bool,
    /// How many connections of clients there may be.
    most: usize,
    soft: rlim_t,
    hard: rlim_t,
    /// Every descriptor is lower than this.
    end: RawFd,
}

/// What is kept open to act on the listener and on its connections, also if no descriptor is free.
struct Adopted {
    /// A second descriptor of Dropshot's listener.
    listener: TcpListener,
    duplicator: Arc<Duplicator>,
}

/// What a look at the descriptors has found.
pub(crate) struct Look {
    pub duplicator: Arc<Duplicator>,
    /// The sockets of the clients' connections, and of the listener, which has no peer.
    pub sockets: Vec<Descriptor>,
    /// How many connections of clients there are.
    pub clients: usize,
    /// Whether there are as many as there may be.
    pub is_full: bool,
    /// How many connections are past the limit.
    pub excess: usize,
}

impl ConnectionLimit {
    /// From now on there may be `asked` connections of clients; fewer, if the hard limit on open
    /// files does not allow them. Sets the soft limit of the process.
    ///
    /// # Errors
    ///
    /// It allows none.
    pub fn set(&self, asked: usize, log: &Logger) -> io::Result<()> {
        let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
        let open = descriptors::open(FIRST_END);
        let own = open.len() + AT_START;
        let free = usize::try_from(hard).unwrap_or(usize::MAX).saturating_sub(own);
        let reserve = RESERVE.min(free / 2);
        let most = asked.min(free - reserve);
        if reserve < FEW {
            let enough = own.saturating_add(RESERVE).saturating_add(asked);
            return Err(io::Error::other(format!(
                "the hard limit on open files is {hard}, which leaves no connection for clients; \
                 set it to {enough}: `ulimit -Hn`, or LimitNOFILE= of systemd"
            )));
        }
        if most < asked {
            warn!(log, "the hard limit on open files allows fewer than --max-connections";
                "connections" => most);
        }
        let mut state = self.state.lock();
        *state = State { most, hard, end: FIRST_END, ..State::default() };
        state.leave(most + FEW + AT_START, &open);
        Ok(())
    }

    /// A logger for Dropshot, which writes to that drain. If Dropshot reports that it cannot
    /// accept, the logger pauses the listener before it returns: until then nothing is accepted.
    pub fn logger(self: &Arc<Self>, records: Records) -> Logger {
        let limit = Arc::clone(self);
        let is_news = move |record: &Record<'_>| {
            if record.msg().as_str() != Some(ACCEPT_FAILED) {
                return true;
            }
            let mut state = limit.state.lock();
            // Dropshot repeats EMFILE ten times a second, and the service says itself that the
            // limit is reached.
            let is_full = state.adopted.as_ref().is_some_and(|it| it.listener.try_clone().is_err());
            state.pause();
            limit.accept_failed.notify_one();
            !is_full
        };
        Logger::root(records.filter(is_news).ignore_res(), o!())
    }

    /// From now on the listener of the process at that address is paused and resumed. Whether it
    /// can be is tried once.
    ///
    /// Its connections send each packet at once. Without `TCP_NODELAY` the second of two small
    /// packets waits until the client acknowledges the first (RFC 9293, section 3.7.4), and a
    /// client may take 40 ms for that. The first answer after the SETTINGS of HTTP/2, or after the
    /// tickets of TLS, took that long.
    ///
    /// # Errors
    ///
    /// There is no such listener, no descriptor is free, or the system attaches packet filters and
    /// does not detach them.
    pub fn adopt(&self, listener: SocketAddr, log: &Logger) -> io::Result<()> {
        // Each connection has a higher number.
        let open = descriptors::open(self.state.lock().end);
        let found = open.iter().find(|descriptor| descriptor.own == Some(listener));
        let duplicator = Duplicator::new()?;
        let second = found.and_then(|socket| duplicator.duplicate(socket));
        let listener = TcpListener::from(second.ok_or(io::ErrorKind::NotFound)?);
        let socket = SockRef::from(&listener);
        socket.set_tcp_nodelay(true)?;
        let attached = socket.attach_filter(&[DROP]);
        if attached.is_ok() {
            let detached = socket.detach_filter();
            detached.map_err(|cause| io::Error::other(format!("{NO_DETACH}: {cause}")))?;
        }
        let mut state = self.state.lock();
        state.can_pause = attached.is_ok();
        state.adopted = Some(Adopted { listener, duplicator: Arc::new(duplicator) });
        if let Err(cause) = attached {
            warn!(log, "{NO_FILTER}"; "cause" => %cause);
        }
        Ok(())
    }

    /// Lets the listener go, by closing the second descriptor. Otherwise the socket would go on
    /// listening after Dropshot has closed its own descriptor.
    pub(crate) fn release(&self) {
        self.state.lock().adopted = None;
    }

    /// Looks at all descriptors, and pauses or resumes the listener. Returns nothing after
    /// [`Self::release`].
    pub(crate) fn look(&self) -> Option<Look> {
        let state = &mut *self.state.lock();
        let Adopted { listener, duplicator } = state.adopted.as_ref()?;
        let duplicator = Arc::clone(duplicator);
        let address = listener.local_addr().ok()?;
        let open = descriptors::open(state.end);
        let is_client =
            |descriptor: &Descriptor| descriptor.own.is_some_and(|own| is_of(address, own));
        // Two are the listener's: Dropshot's and the one here.
        let clients = open.iter().filter(|it| is_client(it)).count().saturating_sub(2);
        let is_full = clients >= state.most;
        if is_full {
            state.pause();
        } else if state.is_paused {
            state.is_paused = SockRef::from(listener).detach_filter().is_err();
        }
        let reserve = if state.is_paused { RESERVE } else { 0 };
        let most = state.most + FEW;
        let free = (most + reserve).saturating_sub(clients);
        state.leave(free.max(OF_A_LOOK), &open);
        // A listener that cannot pause accepts what is closed here.
        let bound = if state.can_pause { most } else { state.most };
        let excess = clients.saturating_sub(bound);
        let sockets = open.into_iter().filter(is_client).collect();
        Some(Look { duplicator, sockets, clients, is_full, excess })
    }
}

impl State {
    /// Drops the packets of new clients. Closes the connections that are in the listener's queue
    /// already, because they would take descriptors that are free for the service.
    fn pause(&mut self) {
        let Some(Adopted { listener, .. }) = &self.adopted else { return };
        // A filter takes only memory of the kernel. After an error accept(2) fails again.
        if !self.is_paused && SockRef::from(listener).attach_filter(&[DROP]).is_ok() {
            self.is_paused = true;
            self.set_soft(self.soft + RESERVE as rlim_t);
        }
        if self.is_paused {
            self.close_queued();
        }
    }

    fn close_queued(&self) {
        let Some(Adopted { listener, .. }) = &self.adopted else { return };
        while listener.accept().is_ok() {}
    }

    /// Sets the soft limit so that `free` numbers below it are free.
    fn leave(&mut self, free: usize, open: &[Descriptor]) {
        let mut soft = free as rlim_t;
        for descriptor in open {
            let is_below = rlim_t::try_from(descriptor.number).is_ok_and(|number| number < soft);
            soft += rlim_t::from(is_below);
        }
        self.set_soft(soft);
    }

    fn set_soft(&mut self, soft: rlim_t) {
        self.soft = soft.min(self.hard);
        self.end = self.end.max(self.soft.try_into().unwrap_or(RawFd::MAX));
        // It is not above the hard limit, so this cannot fail.
        let _ = setrlimit(Resource::RLIMIT_NOFILE, self.soft, self.hard);
    }
}

/// Whether the socket with this local address is the listener, or a connection that the listener
/// has accepted. If the listener has an IPv6 address, each connection has one, even if its client
/// speaks IPv4.
fn is_of(listener: SocketAddr, own: SocketAddr) -> bool {
    own.port() == listener.port()
        && own.is_ipv4() == listener.is_ipv4()
        && (listener.ip().is_unspecified() || own.ip() == listener.ip())
}

/// After a panic inside its lock, the next look sets everything again.
impl RefUnwindSafe for ConnectionLimit {}

#[cfg(test)]
mod tests;
