//! Watches for stalls of the machine. Under them the lease of the tokens may expire without a fault
//! of the store, and the service then refuses creates.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The pause between two probes.
const PAUSE: Duration = Duration::from_millis(50);

/// How late a probe may be. The tokens are read twice a second, and expire after two seconds.
const LATE: Duration = Duration::from_millis(400);

/// The stalls so far. Dropping this ends the watch.
pub struct Stalls {
    shared: Arc<Mutex<Shared>>,
    _running: mpsc::Sender<()>,
}

struct Shared {
    stalls: Vec<(Instant, Instant)>,
    /// When the running probe was begun.
    probing_since: Instant,
}

impl Stalls {
    /// Starts the watch. `probe` does once what the service does to read its tokens.
    pub fn watch(mut probe: impl FnMut() + Send + 'static) -> Self {
        let probing_since = Instant::now();
        let shared = Arc::new(Mutex::new(Shared { stalls: Vec::new(), probing_since }));
        let (running, ended) = mpsc::channel();
        let state = Arc::clone(&shared);
        thread::spawn(move || {
            while ended.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                probe();
                let mut shared = state.lock().unwrap_or_else(PoisonError::into_inner);
                let now = Instant::now();
                shared.note(now);
                shared.probing_since = now;
            }
        });
        Self { shared, _running: running }
    }

    /// Returns the stalls since the last call, with the one that still lasts.
    pub fn take(&self) -> Vec<(Instant, Instant)> {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.note(Instant::now());
        std::mem::take(&mut shared.stalls)
    }
}

impl Shared {
    fn note(&mut self, now: Instant) {
        if now - self.probing_since > PAUSE + LATE {
            self.stalls.push((self.probing_since, now));
        }
    }
}
