//! What requests tell about the connections on which they came. A request knows the address of its
//! client, and nothing else of its connection. Nothing here knows a socket.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use foldhash::{HashMap, HashSet};
use parking_lot::{Mutex, MutexGuard};
use slab::Slab;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

/// The requests that are in flight, and the answers that their clients have not taken.
#[derive(Default)]
pub(crate) struct Requests {
    table: Mutex<Table>,
    unanswered: TaskTracker,
}

/// What is known of all requests at a moment.
#[derive(Default)]
pub(crate) struct Table {
    by_client: HashMap<SocketAddr, Admitted>,
    untaken: Slab<UntakenAnswer>,
}

/// The admitted requests of a client. There is none without a request in flight or answered.
#[derive(Default)]
struct Admitted {
    in_flight: usize,
    /// When the last one was answered.
    answered: Option<Instant>,
}

/// An answer that its client has not taken to its end.
struct UntakenAnswer {
    client: SocketAddr,
    made: Instant,
}

/// A request that is not answered yet. A stop waits for it.
///
/// It does not keep its connection open until [`Self::admit`] is called. Otherwise anyone who can
/// connect could keep connections open for ever, by requests that are refused.
pub struct InFlight {
    requests: Arc<Requests>,
    client: SocketAddr,
    is_admitted: bool,
    _unanswered: TaskTrackerToken,
}

/// An answer that its client has not taken yet. Keep it beside the bytes of the body, and drop it
/// with them.
pub struct Untaken {
    requests: Arc<Requests>,
    number: usize,
}

impl Requests {
    /// A request has come from that client. It is in flight until this is dropped.
    pub(crate) fn begin(self: &Arc<Self>, client: SocketAddr) -> InFlight {
        let unanswered = self.unanswered.token();
        let requests = Arc::clone(self);
        InFlight { requests, client, is_admitted: false, _unanswered: unanswered }
    }

    /// Waits until no request is in flight. Does not wait until clients have taken their answers.
    pub(crate) async fn drain(&self) {
        self.unanswered.close();
        self.unanswered.wait().await;
    }

    /// Whether [`Self::drain`] was called.
    pub(crate) fn is_draining(&self) -> bool {
        self.unanswered.is_closed()
    }

    /// What is known now. Until the guard is dropped, no request is admitted.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock()
    }
}

impl Table {
    /// Whether no admitted request of that client is in flight, and the last one was answered at
    /// least `time` before `now`.
    pub(crate) fn is_idle(&self, client: SocketAddr, time: Duration, now: Instant) -> bool {
        let is_long_ago = |answered| now.saturating_duration_since(answered) >= time;
        self.by_client.get(&client).is_none_or(|admitted| {
            admitted.in_flight == 0 && admitted.answered.is_none_or(is_long_ago)
        })
    }

    /// The clients that have not taken an answer which was made at least `time` before `now`.
    pub(crate) fn late_clients(&self, time: Duration, now: Instant) -> HashSet<SocketAddr> {
        let answers = self.untaken.iter().map(|(_, answer)| answer);
        let late = answers.filter(|answer| now.saturating_duration_since(answer.made) >= time);
        late.map(|answer| answer.client).collect()
    }

    /// Forgets each client that has no request in flight and is not connected. A request whose
    /// connection is gone ends by itself.
    pub(crate) fn retain(&mut self, is_connected: impl Fn(&SocketAddr) -> bool) {
        self.by_client.retain(|client, admitted| admitted.in_flight > 0 || is_connected(client));
    }
}

impl InFlight {
    /// The client has shown that it may send requests. From now on the connection is not idle,
    /// until its idle time after the answer has passed.
    pub fn admit(&mut self) {
        if !self.is_admitted {
            self.is_admitted = true;
            let mut table = self.requests.table.lock();
            table.by_client.entry(self.client).or_default().in_flight += 1;
        }
    }

    /// The request is answered. If the client does not take the answer in time, its connection is
    /// closed, so that it cannot keep what the answer holds.
    pub fn answer(mut self) -> Untaken {
        let requests = Arc::clone(&self.requests);
        let mut table = requests.table.lock();
        let made = Instant::now();
        self.end(&mut table, made);
        let number = table.untaken.insert(UntakenAnswer { client: self.client, made });
        drop(table);
        Untaken { requests, number }
    }

    fn end(&mut self, table: &mut Table, now: Instant) {
        if !self.is_admitted {
            return;
        }
        self.is_admitted = false;
        if let Some(admitted) = table.by_client.get_mut(&self.client) {
            admitted.in_flight -= 1;
            admitted.answered = Some(now);
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        if self.is_admitted {
            let requests = Arc::clone(&self.requests);
            self.end(&mut requests.table.lock(), Instant::now());
        }
    }
}

impl Drop for Untaken {
    fn drop(&mut self) {
        self.requests.table.lock().untaken.remove(self.number);
    }
}

#[cfg(test)]
mod tests;
