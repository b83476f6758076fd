//! The in-memory snapshot of the tokens, which authenticates every request.
//!
//! Authentication never reads the store. A dedicated thread reads all tokens twice a second, and
//! each snapshot is valid for the duration of the [`LEASE`], counted from before it was read. A
//! command that changes the tokens waits for that duration, so no server accepts a token after
//! `token revoke` has returned. This includes a server that was stopped or suspended, and a server
//! that cannot read its store. Expiry is checked at each request.
//!
//! A snapshot contains only the digest and the first eight characters of each token. Nothing in
//! this module may hold a whole token.

use std::collections::HashMap;
use std::convert::Infallible;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use chrono::Utc;
use metrics::{Unit, describe_gauge, gauge};
use nix::time::{ClockId, clock_gettime};
use parking_lot::RwLock;
use plant_store_store::token::{StoredToken, TokenDigest};
use plant_store_store::{Engine, StoreError, WarningDedup};
use slog::{Logger, warn};
use tokio::task::spawn_blocking;

use crate::http::permits::TokenPermits;
use crate::http::refusal::Refusal;
use crate::token::LEASE;

/// How often the tokens are read.
const READ_EVERY: Duration = Duration::from_millis(500);

/// The cause if reading the tokens takes longer than half of the [`LEASE`]. If the next reading is
/// as slow, the lease expires before the new snapshot is complete, and requests get `error` 503 in
/// between.
const TOO_SLOW: &str = "reading them takes longer than half of their lease: revoke tokens that \
    nobody uses, or find out why the store is slow";

/// The cause if the server was stopped or suspended, and has not read the tokens since.
const TOO_OLD: &str = "their lease has expired since they were read";

const EXPIRES: &str = "token_expires_seconds";

/// There is no valid snapshot of the tokens. Contains the cause.
#[derive(Debug, thiserror::Error)]
#[error("the tokens are unavailable: {0}")]
pub struct TokensUnavailable(String);

/// The current snapshot, shared between the requests and the thread that reads the tokens.
pub struct KnownTokens {
    snapshot: RwLock<Snapshot>,
    /// How many creates may be in the service at a time. One token may have half of them.
    max_creates: NonZeroU32,
}

/// All tokens of the store, as of one reading.
struct Snapshot {
    tokens: HashMap<TokenDigest, Arc<KnownToken>>,
    /// When the lease expires, on the clock of [`now`].
    valid_until: Duration,
    /// Why the snapshot is stale once the lease has expired.
    stale_cause: String,
}

/// A token of the store. It may have expired.
pub struct KnownToken {
    /// The token as the store keeps it.
    pub stored: StoredToken,
    pub permits: TokenPermits,
}

impl KnownToken {
    /// Refuses a token that has expired.
    pub fn check_expiry(&self) -> Result<(), Refusal> {
        if self.stored.has_expired() { Err(Refusal::TokenExpired) } else { Ok(()) }
    }
}

impl KnownTokens {
    /// Creates an empty snapshot that has no lease. Each token may have half of `max_creates` in
    /// the service at a time.
    pub fn new(max_creates: NonZeroU32) -> Self {
        describe_gauge!(
            EXPIRES,
            Unit::Seconds,
            "Seconds until the next token expires, not counting revoked tokens; +Inf if none expires."
        );
        let stale_cause = "they have not been read yet".into();
        let empty = Snapshot { tokens: HashMap::new(), valid_until: Duration::ZERO, stale_cause };
        Self { snapshot: RwLock::new(empty), max_creates }
    }

    /// Reads a new snapshot from the store, and returns the number of tokens.
    pub fn read(&self, store: &dyn Engine) -> Result<usize, StoreError> {
        // Before the tokens are read, because the snapshot may miss a change made while reading.
        let valid_until = now() + LEASE;
        let stored = store.tokens()?;
        record_next_expiry(&stored);
        let count = stored.len();
        let mut tokens = HashMap::default();
        for token in stored {
            tokens.insert(token.digest, self.carry_over(token));
        }
        *self.snapshot.write() = Snapshot { tokens, valid_until, stale_cause: TOO_OLD.into() };
        Ok(count)
    }

    /// Returns the token for the next snapshot. A token that was in the last snapshot keeps its
    /// permits.
    fn carry_over(&self, stored: StoredToken) -> Arc<KnownToken> {
        match self.snapshot.read().tokens.get(&stored.digest) {
            Some(last) if last.stored == stored => Arc::clone(last),
            _ => Arc::new(KnownToken { permits: TokenPermits::half_of(self.max_creates), stored }),
        }
    }

    /// Checks that the snapshot is valid.
    pub fn readiness(&self) -> Result<(), TokensUnavailable> {
        let snapshot = self.snapshot.read();
        if snapshot.is_valid() {
            Ok(())
        } else {
            Err(TokensUnavailable(snapshot.stale_cause.clone()))
        }
    }

    /// Returns the token with this digest. The token may have expired.
    ///
    /// # Errors
    ///
    /// `error` 401 if the store does not contain the token, or 503 if the lease has expired.
    pub fn find(&self, digest: &TokenDigest) -> Result<Arc<KnownToken>, Refusal> {
        let snapshot = self.snapshot.read();
        if !snapshot.is_valid() {
            return Err(Refusal::TokensUnavailable);
        }
        snapshot.tokens.get(digest).map(Arc::clone).ok_or(Refusal::TokenNotAccepted)
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

    /// Starts a blocking thread that reads the tokens until the returned sender is dropped. The end
    /// of the runtime waits for the thread, because the store is not closed before.
    ///
    /// # Panics
    ///
    /// Panics outside a Tokio runtime.
    pub fn watch(
        self: &Arc<Self>,
        store: Arc<dyn Engine>,
        log: Logger,
    ) -> mpsc::Sender<Infallible> {
        let (keep_alive, end) = mpsc::channel();
        let tokens = Arc::clone(self);
        let watch = move || {
            let mut warnings = WarningDedup::default();
            while end.recv_timeout(READ_EVERY) == Err(RecvTimeoutError::Timeout) {
                tokens.read_and_report(&*store, &mut warnings, &log);
            }
        };
        spawn_blocking(watch);
        keep_alive
    }

    /// Reads the tokens, and logs one warning when reading starts to fail or is slow. On a failure
    /// the old snapshot stays until its lease expires: a disk fault must not become a 401.
    fn read_and_report(&self, store: &dyn Engine, warnings: &mut WarningDedup, log: &Logger) {
        let began = Instant::now();
        let cause = match self.read(store) {
            Ok(_) if began.elapsed() * 2 > LEASE => TOO_SLOW.into(),
            Ok(_) => {
                warnings.succeeded();
                return;
            }
            Err(error) => error.to_string(),
        };
        self.snapshot.write().stale_cause.clone_from(&cause);
        if warnings.failed(&cause) {
            warn!(log, "the tokens cannot be read in time"; "cause" => cause);
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
