//! The door: it lets connections in while there are places. There are as many places as connections
//! of clients may be open.

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

use crate::descriptors::{self, Descriptor};

/// How many descriptors are free for the service itself while the door is shut: enough for the
/// connections of operators, and for a few files. A low hard limit is shared: clients get at least
/// half of it.
const RESERVE: usize = 128;

/// How many descriptors are free for the service while the door is open. Clients may take them too.
const FEW: usize = 4;

/// What the service opens before its connections are first looked at: two listeners, two sessions
/// on a database, and for a moment what duplicates a listener's descriptor.
const AT_START: usize = 8;

/// Every descriptor is lower than this before the limit is set.
const FIRST_END: RawFd = 1024;

/// Drops every packet: "return 0" in the language of packet filters (`BPF_RET | BPF_K`,
/// <https://www.kernel.org/doc/html/latest/networking/filter.html>).
const DROP: SockFilter = SockFilter::new(0x06, 0, 0, 0);

const STUCK: &str = "this system lets no packet filter on the listener: when --max-connections are \
    open, the next ones are accepted, closed within a second, and may take the descriptors that the \
    service needs; allow SO_ATTACH_FILTER (setsockopt), or have a proxy in front bound the connections";

/// A drain for Dropshot's records.
pub type Records = Arc<dyn SendSyncRefUnwindSafeDrain<Ok = (), Err = Never>>;

/// Lets connections into the process, or keeps them out.
#[derive(Default)]
pub struct Door {
    state: Mutex<State>,
    /// Notified if accepting has failed.
    pub failed: Notify,
}

#[derive(Default)]
struct State {
    /// A second descriptor of Dropshot's listener, while it listens.
    listener: Option<TcpListener>,
    /// Whether the door cannot shut: the system refuses packet filters.
    is_stuck: bool,
    is_shut: bool,
    /// How many connections of clients there may be.
    places: usize,
    soft: rlim_t,
    hard: rlim_t,
    /// Every descriptor is lower than this.
    end: RawFd,
}

/// What a look at the descriptors has found.
pub struct Look {
    /// The sockets of the clients' connections, and of the listener, which has no peer.
    pub sockets: Vec<Descriptor>,
    /// How many connections of clients there are.
    pub clients: usize,
    /// Whether all places are taken.
    pub are_taken: bool,
    /// How many connections are past the bound.
    pub excess: usize,
}

impl Door {
    /// From now on there are so many places; fewer, if the hard limit on open files does not allow them.
    ///
    /// # Errors
    ///
    /// It allows none.
    pub fn limit(&self, asked: usize, log: &Logger) -> io::Result<()> {
        let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
        let open = descriptors::open(FIRST_END);
        let own = open.len() + AT_START;
        let free = usize::try_from(hard).unwrap_or(usize::MAX).saturating_sub(own);
        let reserve = RESERVE.min(free / 2);
        let places = asked.min(free - reserve);
        if reserve < FEW {
            let enough = own.saturating_add(RESERVE).saturating_add(asked);
            return Err(io::Error::other(format!(
                "the hard limit on open files is {hard}, which leaves no connection for clients; \
                 set it to {enough}: `ulimit -Hn`, or LimitNOFILE= of systemd"
            )));
        }
        if places < asked {
            warn!(log, "the hard limit on open files allows fewer than --max-connections";
                "connections" => places);
        }
        let mut state = self.state.lock();
        *state = State { places, hard, end: FIRST_END, ..State::default() };
        state.leave(places + FEW + AT_START, &open);
        Ok(())
    }

    /// A logger for Dropshot, which writes to that drain. If Dropshot reports that it cannot
    /// accept, the logger shuts the door before it returns: until then nothing is accepted.
    pub fn logger(self: &Arc<Self>, records: Records) -> Logger {
        let door = Arc::clone(self);
        let is_news = move |record: &Record<'_>| {
            if record.msg().as_str() != Some("accept error") {
                return true;
            }
            let mut state = door.state.lock();
            // Dropshot repeats EMFILE ten times a second, and the service says itself that all
            // places are taken.
            let is_full = state.listener.as_ref().is_some_and(|it| it.try_clone().is_err());
            state.shut();
            door.failed.notify_one();
            !is_full
        };
        Logger::root(records.filter(is_news).ignore_res(), o!())
    }

    /// From now on the door opens and shuts this listener of the process. Whether it can shut is
    /// tried once.
    ///
    /// Its connections send each packet at once. Without `TCP_NODELAY` the second of two small
    /// packets waits until the client acknowledges the first (RFC 9293, section 3.7.4), and a
    /// client may take 40 ms for that. The first answer after the SETTINGS of HTTP/2, or after the
    /// tickets of TLS, took that long.
    pub fn guard(&self, listener: SocketAddr, log: &Logger) -> io::Result<()> {
        // Each connection has a higher number.
        let open = descriptors::open(self.state.lock().end);
        let found = open.iter().find(|it| it.own == Some(listener));
        let second = found.and_then(Descriptor::duplicate).ok_or(io::ErrorKind::NotFound)?;
        let listener = TcpListener::from(second);
        let socket = SockRef::from(&listener);
        socket.set_tcp_nodelay(true)?;
        let tried = socket.attach_filter(&[DROP]).and_then(|()| socket.detach_filter());
        let mut state = self.state.lock();
        (state.listener, state.is_stuck) = (Some(listener), tried.is_err());
        if let Err(cause) = tried {
            warn!(log, "{STUCK}"; "cause" => %cause);
        }
        Ok(())
    }

    /// Closes the second descriptor of the listener. Otherwise the socket would go on listening
    /// after Dropshot has closed its own descriptor.
    pub fn release(&self) {
        self.state.lock().listener = None;
    }

    /// Looks at all descriptors, and opens or shuts the door. Returns nothing after
    /// [`Self::release`].
    pub fn look(&self) -> Option<Look> {
        let state = &mut *self.state.lock();
        let listener = state.listener.as_ref()?;
        let address = listener.local_addr().ok()?;
        let open = descriptors::open(state.end);
        let is_client = |it: &Descriptor| it.own.is_some_and(|own| is_of(address, own));
        // Two are the listener's, Dropshot's and the door's.
        let clients = open.iter().filter(|it| is_client(it)).count().saturating_sub(2);
        let are_taken = clients >= state.places;
        if are_taken {
            state.shut();
        } else if state.is_shut {
            state.is_shut = SockRef::from(listener).detach_filter().is_err();
        }
        let reserve = if state.is_shut { RESERVE } else { 0 };
        let most = state.places + FEW;
        // A look needs some to duplicate one.
        state.leave((most + reserve).saturating_sub(clients).max(3), &open);
        // A door that is stuck closes late what it could not keep out.
        let bound = if state.is_stuck { state.places } else { most };
        let excess = clients.saturating_sub(bound);
        let sockets = open.into_iter().filter(is_client).collect();
        Some(Look { sockets, clients, are_taken, excess })
    }
}

impl State {
    /// Lets no more connections in. Closes those that are in the listener's queue already, because
    /// they would take descriptors that are free for the service.
    fn shut(&mut self) {
        // It takes only memory of the kernel. After an error accepting fails again.
        let attach = |it: &TcpListener| SockRef::from(it).attach_filter(&[DROP]).is_ok();
        if !self.is_shut && self.listener.as_ref().is_some_and(attach) {
            self.is_shut = true;
            self.set_soft(self.soft + RESERVE as rlim_t);
        }
        while self.is_shut && self.listener.as_ref().is_some_and(|it| it.accept().is_ok()) {}
    }

    /// Sets the soft limit so that `free` numbers below it are free.
    fn leave(&mut self, free: usize, open: &[Descriptor]) {
        let mut soft = free as rlim_t;
        for it in open {
            soft += rlim_t::from(rlim_t::try_from(it.number).is_ok_and(|number| number < soft));
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
impl RefUnwindSafe for Door {}

#[cfg(test)]
mod tests;
