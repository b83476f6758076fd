//! The tokens that the running server knows, in memory.
//!
//! Authentication never reads the store. Twice a second a thread of its own reads all tokens, and
//! what it has read may be used for [`LEASE`], counted from before it was read. A command that changes the
//! tokens waits for as long, so no server accepts a token after `token revoke` has returned:
//! neither one that was stopped or suspended, nor one that cannot read its store. Expiry is checked
//! at each request.
//!
//! Of a token, only the digest and the first eight characters are here. Nothing in this module may
//! keep a whole one.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use chrono::Utc;
use metrics::{Unit, describe_gauge, gauge};
use nix::time::{ClockId, clock_gettime};
use parking_lot::RwLock;
use plant_store_store::token::{StoredToken, TokenDigest};
use plant_store_store::{Engine, StoreError, WarningDedup};
use slog::{Logger, warn};

use crate::http::permits::TokenPermits;
use crate::http::rate::Rate;
use crate::http::refusal::Refusal;
use crate::token::LEASE;

/// How often the tokens are read.
const READ_EVERY: Duration = Duration::from_millis(500);

/// A reading that takes longer than half of [`LEASE`]: if the next one does too, the first may no
/// longer be used before the second is there, and requests get `error` 503 meanwhile.
const TOO_SLOW: &str = "reading them takes longer than half of the time for which they may be \
    used: revoke those that nobody uses, or find out why the store is slow";

/// The server was stopped or suspended, and no reading has ended since.
const TOO_OLD: &str = "they were read too long ago";

const EXPIRES: &str = "token_expires_seconds";

/// There is no reading of the tokens that may be used, and why.
#[derive(Debug, thiserror::Error)]
#[error("the tokens are not known: {0}")]
pub struct TokensNotRead(String);

/// The tokens, shared between the requests and the thread that reads them.
pub struct KnownTokens {
    last_reading: RwLock<Reading>,
    /// How many creates per second each token may send.
    max_rate: Option<NonZeroU32>,
    /// How many creates may be in the service at a time; half of them may be of one token.
    max_creates: NonZeroU32,
}

/// The tokens as they were read.
struct Reading {
    tokens: HashMap<TokenDigest, Arc<KnownToken>>,
    /// Until when they may be used, by [`now`].
    until: Duration,
    /// Why they may not be used after that.
    why_not: String,
}

/// A token of the store. It may have expired.
pub struct KnownToken {
    /// What the store keeps of it.
    pub stored: StoredToken,
    /// How many creates per second it may send, if there is a limit.
    rate: Option<Rate>,
    pub permits: TokenPermits,
}

impl KnownToken {
    /// Refuses a token that has expired.
    pub fn check_expiry(&self) -> Result<(), Refusal> {
        if self.stored.has_expired() { Err(Refusal::TokenExpired) } else { Ok(()) }
    }

    /// Counts a create of the token.
    ///
    /// # Errors
    ///
    /// It is one more than the token may send.
    pub fn check_rate(&self) -> Result<(), Refusal> {
        self.rate.as_ref().map_or(Ok(()), Rate::check)
    }
}

impl KnownTokens {
    /// No tokens yet. Each may send `max_rate` creates per second, or any; and half of
    /// `max_creates` of them may be in the service at a time.
    pub fn new(max_rate: Option<NonZeroU32>, max_creates: NonZeroU32) -> Self {
        let why_not = "they were not read yet".into();
        let none = Reading { tokens: HashMap::new(), until: Duration::ZERO, why_not };
        Self { last_reading: RwLock::new(none), max_rate, max_creates }
    }

    /// Reads the tokens of the store, and returns how many there are.
    pub fn read(&self, store: &dyn Engine) -> Result<usize, StoreError> {
        // A change that is made while the tokens are read may not be among them.
        let until = now() + LEASE;
        let stored = store.tokens()?;
        show_next_expiry(&stored);
        let count = stored.len();
        let mut tokens = HashMap::default();
        for token in stored {
            tokens.insert(token.digest, self.carry_over(token));
        }
        *self.last_reading.write() = Reading { tokens, until, why_not: TOO_OLD.into() };
        Ok(count)
    }

    /// The token as it is known from now on. One that was read before keeps its permits, and what
    /// it has used of its rate.
    fn carry_over(&self, stored: StoredToken) -> Arc<KnownToken> {
        match self.last_reading.read().tokens.get(&stored.digest) {
            Some(last) if last.stored == stored => Arc::clone(last),
            _ => Arc::new(KnownToken {
                rate: self.max_rate.map(|limit| Rate::new(limit, &stored.name)),
                permits: TokenPermits::half_of(self.max_creates),
                stored,
            }),
        }
    }

    /// Whether the tokens are known.
    pub fn readiness(&self) -> Result<(), TokensNotRead> {
        let reading = self.last_reading.read();
        if reading.is_fresh() { Ok(()) } else { Err(TokensNotRead(reading.why_not.clone())) }
    }

    /// The token with that digest, which may have expired.
    ///
    /// # Errors
    ///
    /// It is not among those of the store; or the tokens were read too long ago.
    pub fn find(&self, digest: &TokenDigest) -> Result<Arc<KnownToken>, Refusal> {
        let reading = self.last_reading.read();
        if !reading.is_fresh() {
            return Err(Refusal::TokensNotRead);
        }
        reading.tokens.get(digest).map(Arc::clone).ok_or(Refusal::TokenNotAccepted)
    }

    /// Refuses a token that was accepted before, and was revoked or has expired since; or if the
    /// tokens were read too long ago by now.
    pub fn check_still_accepted(&self, token: &KnownToken) -> Result<(), Refusal> {
        self.find(&token.stored.digest)?.check_expiry()
    }

    /// Starts the thread that reads the tokens, until what this returns is dropped.
    ///
    /// # Errors
    ///
    /// The operating system gives no thread.
    pub fn watch(
        self: &Arc<Self>,
        store: Arc<dyn Engine>,
        log: Logger,
    ) -> io::Result<mpsc::Sender<Infallible>> {
        let (keep_alive, end) = mpsc::channel();
        let tokens = Arc::clone(self);
        let watch = move || {
            let mut warnings = WarningDedup::default();
            while end.recv_timeout(READ_EVERY) == Err(RecvTimeoutError::Timeout) {
                tokens.read_and_report(&*store, &mut warnings, &log);
            }
        };
        thread::Builder::new().name("tokens".into()).spawn(watch)?;
        Ok(keep_alive)
    }

    /// Reads the tokens. If that fails or is slow, the log says so, once: a fault of the disk must
    /// not become a 401.
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
        self.last_reading.write().why_not.clone_from(&cause);
        if warnings.failed(&cause) {
            warn!(log, "the tokens cannot be read in time"; "cause" => cause);
        }
    }
}

impl Reading {
    fn is_fresh(&self) -> bool {
        now() < self.until
    }
}

/// Shows in how many seconds the first of the tokens expires; less than 0 if it has expired.
#[expect(clippy::cast_precision_loss, reason = "an f64 counts the seconds of a calendar")]
fn show_next_expiry(tokens: &[StoredToken]) {
    describe_gauge!(
        EXPIRES,
        Unit::Seconds,
        "Until the first token expires, revoked ones left out; +Inf if none will."
    );
    let left = tokens.iter().filter_map(|token| token.expires_at.map(|at| at - Utc::now()));
    let next = left.map(|left| left.num_seconds()).min();
    gauge!(EXPIRES).set(next.map_or(f64::INFINITY, |seconds| seconds as f64));
}

/// The time since the machine was started. It goes on while the machine sleeps (`clock_gettime(2)`,
/// `CLOCK_BOOTTIME`): tokens that were read before a suspend do not hold after it.
fn now() -> Duration {
    let now = clock_gettime(ClockId::CLOCK_BOOTTIME).expect("Linux has this clock since 2.6.39");
    now.into()
}
