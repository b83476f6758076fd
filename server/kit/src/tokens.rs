//! The bearer tokens that a server accepts.
//!
//! Authentication never reads the store. A dedicated thread reads all tokens twice a second, and
//! each snapshot is valid for the duration of the [`LEASE`], counted from before it was read. A
//! command that changes the tokens waits for that duration, so no server accepts a token after
//! `token revoke` has returned. This includes a server that was stopped or suspended, and a server
//! that cannot read its store. It does not include a paused virtual machine, whose clock stops with
//! it, or a server that still reads an old primary. Expiry is checked at each request.
//!
//! Nothing here sees a token: a snapshot contains only the digest and the first characters of each.

mod format;

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use anyhow::ensure;
use chrono::Utc;
use groundwork_store::token::{StoredToken, TokenDigest};
use groundwork_store::{self as store, Engine, WarningDedup};
use metrics::{Unit, describe_gauge, gauge};
use nix::time::{ClockId, clock_gettime};
use parking_lot::RwLock;
use slog::{Logger, warn};
use tokio::sync::Semaphore;
use tokio::time::interval;

use crate::error::{ErrorCode, Refusal};

pub use format::{issue, parse};

/// How long a server may use the tokens that it has read.
///
/// A command that changes the tokens waits for this duration. After that, every server has either
/// read the change or accepts no token.
pub const LEASE: Duration = Duration::from_secs(2);

/// How often the tokens are read.
const READ_EVERY: Duration = Duration::from_millis(500);

/// The cause if the lease has expired and the last attempt to read the tokens has not failed: it
/// has not returned yet, or the server was stopped or suspended.
const NOT_READ: &str = "they could not be read within their lease of two seconds: the store does \
    not answer, or this server was suspended";

const EXPIRES: &str = "token_expires_seconds";

/// The current snapshot, shared between the requests and the thread that reads the tokens.
pub struct KnownTokens {
    snapshot: RwLock<Snapshot>,
    /// The number of permits of the service.
    max_creates: NonZeroU32,
    has_ended: AtomicBool,
}

/// All tokens of the store, as of one reading.
struct Snapshot {
    tokens: HashMap<TokenDigest, Arc<KnownToken>>,
    /// When the lease expires, on the clock of [`now`].
    valid_until: Duration,
    /// Why reading the tokens again has failed.
    fault: Option<String>,
}

/// A token of the store. It may have expired.
pub struct KnownToken {
    /// The token as the store keeps it.
    pub stored: StoredToken,
    /// The permits that requests with this token may hold: half of those of the service.
    pub permits: Arc<Semaphore>,
}

impl KnownToken {
    /// Refuses a token that has expired. The client is not told so, but the log is.
    pub fn check_expiry(&self) -> Result<(), Refusal> {
        if !self.stored.has_expired() {
            return Ok(());
        }
        Err(Refusal::of(ErrorCode::UNAUTHORIZED).because("the token has expired"))
    }
}

impl KnownTokens {
    /// Creates an empty snapshot that has no lease.
    pub fn new(max_creates: NonZeroU32) -> Self {
        describe_gauge!(
            EXPIRES,
            Unit::Seconds,
            "Seconds until the next token expires, not counting revoked tokens; +Inf if none \
             expires."
        );
        let empty = Snapshot { tokens: HashMap::new(), valid_until: Duration::ZERO, fault: None };
        Self { snapshot: RwLock::new(empty), max_creates, has_ended: AtomicBool::new(false) }
    }

    /// Reads a new snapshot from the store, and returns the number of tokens. If this fails, the
    /// old snapshot stays until its lease expires: a disk fault must not become a 401.
    pub fn read(&self, store: &dyn Engine) -> Result<usize, store::Error> {
        // Before the tokens are read, because the snapshot may miss a change made while reading.
        let valid_until = now() + LEASE;
        let stored = store.tokens().inspect_err(|error| {
            self.snapshot.write().fault = Some(error.to_string());
        })?;
        record_next_expiry(&stored);
        let count = stored.len();
        let mut tokens = HashMap::default();
        for token in stored {
            tokens.insert(token.digest, self.carry_over(token));
        }
        *self.snapshot.write() = Snapshot { tokens, valid_until, fault: None };
        Ok(count)
    }

    /// Returns the token for the next snapshot. A token that was in the last snapshot keeps its
    /// permits.
    fn carry_over(&self, stored: StoredToken) -> Arc<KnownToken> {
        match self.snapshot.read().tokens.get(&stored.digest) {
            Some(last) if last.stored == stored => Arc::clone(last),
            _ => {
                let permits = Arc::new(Semaphore::new(self.max_creates.get().div_ceil(2) as usize));
                Arc::new(KnownToken { stored, permits })
            }
        }
    }

    /// Checks that the snapshot is valid.
    pub fn readiness(&self) -> anyhow::Result<()> {
        let snapshot = self.snapshot.read();
        let cause = snapshot.fault.as_deref().unwrap_or(NOT_READ);
        ensure!(snapshot.is_valid(), "the tokens are unavailable: {cause}");
        Ok(())
    }

    /// Returns the token with this digest. The token may have expired.
    ///
    /// # Errors
    ///
    /// `error` 401 if the store does not contain the token, or 503 if the lease has expired.
    pub fn find(&self, digest: &TokenDigest) -> Result<Arc<KnownToken>, Refusal> {
        let snapshot = self.snapshot.read();
        if !snapshot.is_valid() {
            let message =
                "the service cannot check tokens now: send the same request again in a moment";
            let refusal = Refusal::new(ErrorCode::SERVICE_UNAVAILABLE, message);
            return Err(refusal.because("the tokens are unavailable"));
        }
        snapshot
            .tokens
            .get(digest)
            .map(Arc::clone)
            .ok_or_else(|| Refusal::of(ErrorCode::UNAUTHORIZED))
    }

    /// Checks a token again that was accepted before.
    ///
    /// # Errors
    ///
    /// `error` 401 if the token has been revoked or has expired since, or 503 if the lease has
    /// expired.
    pub fn check_still_accepted(&self, token: &KnownToken) -> Result<(), Refusal> {
        self.find(&token.stored.digest)?.check_expiry()
    }

    /// Starts the thread that reads the tokens until [`KnownTokens::end`] is called. Its first
    /// reading comes after [`READ_EVERY`].
    pub fn start_reading(self: &Arc<Self>, store: &Arc<dyn Engine>) -> io::Result<()> {
        let tokens = Arc::clone(self);
        // While the thread sleeps, it does not keep the store open.
        let store = Arc::downgrade(store);
        let read = move || {
            loop {
                thread::sleep(READ_EVERY);
                let Some(store) = store.upgrade() else { return };
                if tokens.has_ended.load(Relaxed) {
                    return;
                }
                // A failure is part of the snapshot.
                let _ = tokens.read(&*store);
            }
        };
        thread::Builder::new().name("tokens".into()).spawn(read).map(drop)
    }

    /// Ends the thread that reads the tokens. The tokens are not read any more, except by a reading
    /// that has already begun.
    pub fn end(&self) {
        self.has_ended.store(true, Relaxed);
    }

    /// Logs a warning when reading the tokens starts to fail, or when it takes so long that the
    /// lease expires. Never returns.
    pub async fn warn_of_faults(&self, log: &Logger) -> Infallible {
        let mut warnings = WarningDedup::default();
        let mut ticks = interval(READ_EVERY);
        loop {
            ticks.tick().await;
            let fault = {
                let snapshot = self.snapshot.read();
                let expired = || (!snapshot.is_valid()).then(|| NOT_READ.to_owned());
                snapshot.fault.clone().or_else(expired)
            };
            match fault {
                None => drop(warnings.succeeded()),
                Some(cause) if warnings.failed(&cause) => {
                    warn!(log, "the tokens cannot be read in time"; "cause" => cause);
                }
                Some(_) => {}
            }
        }
    }
}

impl Snapshot {
    fn is_valid(&self) -> bool {
        now() < self.valid_until
    }
}

/// Sets the metric that contains the seconds until the next token expires. The value is negative if
/// a token has expired.
#[expect(clippy::cast_precision_loss, reason = "an f64 is exact for the seconds of any date")]
fn record_next_expiry(tokens: &[StoredToken]) {
    let left = tokens.iter().filter_map(|token| token.expires_at.map(|at| at - Utc::now()));
    let next = left.map(|left| left.num_seconds()).min();
    gauge!(EXPIRES).set(next.map_or(f64::INFINITY, |seconds| seconds as f64));
}

/// Returns the time since the machine was booted. This clock continues while the machine is
/// suspended (`clock_gettime(2)`, `CLOCK_BOOTTIME`), so a lease can expire during a suspend.
fn now() -> Duration {
    let now = clock_gettime(ClockId::CLOCK_BOOTTIME).expect("Linux has this clock since 2.6.39");
    now.into()
}
