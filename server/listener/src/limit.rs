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
use slog::{Logger, warn};
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
/// others before the look.
const OF_A_LOOK: usize = 3;

/// Every descriptor is lower than this before the limit is set.
const FIRST_END: RawFd = 1024;

/// Drops every packet: "return 0" in the language of packet filters (`BPF_RET | BPF_K`,
/// <https://www.kernel.org/doc/html/latest/networking/filter.html>).
const DROP: SockFilter = SockFilter::new(0x06, 0, 0, 0);

const NO_FILTER: &str = "this system lets no packet filter on the listener: when \
    --max-connections are open, the next ones are accepted, closed within a second, and may take \
    the descriptors that the service needs; allow SO_ATTACH_FILTER and SO_DETACH_FILTER \
    (setsockopt), with CAP_NET_ADMIN if the kernel asks for it, or have a proxy in front bound \
    the connections";

const NO_DETACH: &str = "this system attaches a packet filter to the listener, and does not detach \
    it, so no client could connect: allow SO_DETACH_FILTER beside SO_ATTACH_FILTER (setsockopt), \
    or refuse both";

/// The limit on the connections of clients, and the listener that keeps it.
#[derive(Default)]
pub struct ConnectionLimit {
    state: Mutex<State>,
    /// Notified if accept(2) has failed.
    pub(crate) accept_failed: Notify,
}

#[derive(Default)]
struct State {
    /// From [`ConnectionLimit::adopt`] to [`ConnectionLimit::release`].
    adopted: Option<Adopted>,
    /// Whether the system takes packet filters. Without them the listener cannot pause.
    can_pause: bool,
    is_paused: bool,
    /// How many connections of clients there may be.
    max_connections: usize,
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
        let open = descriptors::open_below(FIRST_END);
        let of_service = open.len() + AT_START;
        let free = usize::try_from(hard).unwrap_or(usize::MAX).saturating_sub(of_service);
        let reserve = RESERVE.min(free / 2);
        let max_connections = asked.min(free - reserve);
        if reserve < FEW {
            let enough = of_service.saturating_add(RESERVE).saturating_add(asked);
            return Err(io::Error::other(format!(
                "the hard limit on open files is {hard}, which leaves no connection for clients; \
                 set it to {enough}: `ulimit -Hn`, or LimitNOFILE= of systemd"
            )));
        }
        if max_connections < asked {
            warn!(log, "the hard limit on open files allows fewer than --max-connections";
                "connections" => max_connections);
        }
        let mut state = self.state.lock();
        *state = State { max_connections, hard, end: FIRST_END, ..State::default() };
        state.set_soft_for(max_connections + FEW + AT_START, &open);
        Ok(())
    }

    /// Pauses the listener, and has the connections looked at now. Returns whether accept(2) has
    /// failed because no descriptor is free.
    pub(crate) fn pause_after_failed_accept(&self) -> bool {
        let mut state = self.state.lock();
        let listener = state.adopted.as_ref().map(|adopted| &adopted.listener);
        // Before the pause, which raises the soft limit.
        let no_descriptor_is_free = listener.is_some_and(no_descriptor_is_free);
        state.pause();
        self.accept_failed.notify_one();
        no_descriptor_is_free
    }

    /// From now on the process's listener at that address is paused and resumed. Tries once whether
    /// the system allows that.
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
    pub fn adopt(&self, address: SocketAddr, log: &Logger) -> io::Result<()> {
        // Each connection has a higher number.
        let open = descriptors::open_below(self.state.lock().end);
        let found = open.iter().find(|descriptor| descriptor.local == Some(address));
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
        drop(state);
        // Otherwise clients could take what `set` left for the start, until the first look.
        let _ = self.look();
        if let Err(cause) = attached {
            warn!(log, "{NO_FILTER}"; "cause" => %cause);
        }
        Ok(())
    }

    /// Closes the second descriptor of the listener. Otherwise the socket would go on listening
    /// after Dropshot has closed its own descriptor.
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
        let open = descriptors::open_below(state.end);
        let is_client = |descriptor: &Descriptor| {
            descriptor.local.is_some_and(|local| is_of_listener(local, address))
        };
        // Two are the listener's: Dropshot's and the one here.
        let clients = open.iter().filter(|socket| is_client(socket)).count().saturating_sub(2);
        let is_full = clients >= state.max_connections;
        if is_full {
            state.pause();
        } else if state.is_paused {
            state.is_paused = SockRef::from(listener).detach_filter().is_err();
        }
        let reserve = if state.is_paused { RESERVE } else { 0 };
        let with_few = state.max_connections + FEW;
        let free = (with_few + reserve).saturating_sub(clients);
        state.set_soft_for(free.max(OF_A_LOOK), &open);
        // Without a pause nothing else keeps the limit, so there is no slack of FEW.
        let most = if state.can_pause { with_few } else { state.max_connections };
        let excess = clients.saturating_sub(most);
        let sockets = open.into_iter().filter(is_client).collect();
        Some(Look { duplicator, sockets, clients, is_full, excess })
    }
}

impl State {
    /// Drops the packets of new clients. Closes the connections that are in the listener's queue
    /// already, because they would take descriptors that are free for the service.
    fn pause(&mut self) {
        let Some(Adopted { listener, .. }) = &self.adopted else { return };
        // A filter takes only memory of the kernel. If that fails, the next failed accept(2) tries
        // again.
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
    fn set_soft_for(&mut self, free: usize, open: &[Descriptor]) {
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

/// dup(2) fails with EMFILE as accept(2) does.
fn no_descriptor_is_free(listener: &TcpListener) -> bool {
    listener.try_clone().is_err()
}

/// Whether the socket with this local address is the listener, or a connection that the listener
/// has accepted. If the listener has an IPv6 address, each connection has one, even if its client
/// speaks IPv4.
fn is_of_listener(local: SocketAddr, listener: SocketAddr) -> bool {
    local.port() == listener.port()
        && local.is_ipv4() == listener.is_ipv4()
        && (listener.ip().is_unspecified() || local.ip() == listener.ip())
}

/// After a panic inside its lock, the next look sets everything again.
impl RefUnwindSafe for ConnectionLimit {}

#[cfg(test)]
mod tests;
