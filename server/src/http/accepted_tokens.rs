//! The tokens that the running server accepts, in memory.
//!
//! Authentication never reads the store. Twice a second a task reads all tokens, and what it has read
//! may be used for [`LEASE`], counted from before it was read. A command that changes the tokens waits
//! for as long, so no server accepts a token after `token revoke` has returned: neither one that was
//! stopped or suspended, nor one that cannot read its store. Expiry is checked at each request.
//!
//! Only digests are here. Nothing in this module may keep a token.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use chrono::Utc;
use foldhash::HashMap;
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use metrics::{Counter, Unit, counter, describe_counter, describe_gauge, gauge};
use nix::time::{ClockId, clock_gettime};
use parking_lot::RwLock;
use plant_store_store::token::{StoredToken, TokenDigest};
use plant_store_store::{Engine, StoreError};
use slog::{Logger, warn};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::{MissedTickBehavior, interval};

use crate::http::answer::Refusal;
use crate::token::LEASE;

/// How often the tokens are read.
const READ_EVERY: Duration = Duration::from_millis(500);

const EXPIRES: &str = "plant_store_token_expires_seconds";
const PAST_RATE: &str = "plant_store_creates_past_rate_total";

/// The accepted tokens, shared between the requests and the task that reads them.
#[derive(Clone)]
pub struct AcceptedTokens {
    read: Arc<RwLock<Read>>,
    /// How many creates a second each token may send.
    max_rate: Option<NonZeroU32>,
    /// How many creates of one token may be in the service at a time.
    places: usize,
}

/// The tokens as they were read last.
#[derive(Default)]
struct Read {
    tokens: HashMap<TokenDigest, Arc<Accepted>>,
    /// Until when they may be used, by [`now`].
    until: Duration,
}

/// An accepted token.
pub struct Accepted {
    /// What the store keeps of it.
    pub token: StoredToken,
    /// How many creates a second it may send, if there is a limit, with the count of those that were
    /// refused.
    rate: Option<(NonZeroU32, DefaultDirectRateLimiter, Counter)>,
    /// Its share of the places.
    pub places: Arc<Semaphore>,
}

impl Accepted {
    /// In no second may it send more creates to this server than `max_rate`: a tenth of them may come
    /// at once, the others evenly.
    fn new(token: StoredToken, max_rate: Option<NonZeroU32>, places: usize) -> Self {
        let rate = max_rate.map(|limit| {
            // The bucket and what flows into it in a second are together the limit.
            let at_once = limit.get().div_ceil(10);
            let refill = NonZeroU32::MIN.saturating_add(limit.get() - at_once);
            let at_once = NonZeroU32::MIN.saturating_add(at_once - 1);
            let limiter = RateLimiter::direct(Quota::per_second(refill).allow_burst(at_once));
            describe_counter!(PAST_RATE, "Creates past the rate of their token, by its name.");
            (limit, limiter, counter!(PAST_RATE, "token" => token.name.to_string()))
        });
        Self { token, rate, places: Arc::new(Semaphore::new(places)) }
    }

    /// Refuses a token that has expired.
    pub fn check_expiry(&self) -> Result<(), Refusal> {
        if self.token.has_expired() { Err(Refusal::TokenExpired) } else { Ok(()) }
    }

    /// Counts a create of the token.
    ///
    /// # Errors
    ///
    /// It is one more than the token may send.
    pub fn check_rate(&self) -> Result<(), Refusal> {
        match &self.rate {
            Some((limit, limiter, past)) if limiter.check().is_err() => {
                past.increment(1);
                Err(Refusal::TooManyCreates { limit: *limit })
            }
            _ => Ok(()),
        }
    }
}

impl AcceptedTokens {
    /// No tokens yet. Each may send so many creates a second, or any; and half of `max_creates` of them
    /// may be in the service at a time.
    pub fn new(max_rate: Option<NonZeroU32>, max_creates: NonZeroU32) -> Self {
        let places = (max_creates.get() as usize).div_ceil(2).min(Semaphore::MAX_PERMITS);
        Self { read: Arc::default(), max_rate, places }
    }

    /// Reads the tokens of the store, and returns how many there are.
    pub fn read(&self, store: &dyn Engine) -> Result<usize, StoreError> {
        // A change that is made while the tokens are read may not be among them.
        let until = now() + LEASE;
        let tokens = store.tokens()?;
        show_next_expiry(&tokens);
        let last = self.read.read();
        // A token that was read before keeps its places, and what it has used of its rate.
        let accept = |token: StoredToken| match last.tokens.get(&token.digest) {
            Some(last) if last.token == token => Arc::clone(last),
            _ => Arc::new(Accepted::new(token, self.max_rate, self.places)),
        };
        let tokens = tokens.into_iter().map(|token| (token.digest, accept(token)));
        let tokens: HashMap<_, _> = tokens.collect();
        drop(last);
        let count = tokens.len();
        *self.read.write() = Read { tokens, until };
        Ok(count)
    }

    /// Whether the tokens are known. If not, the error says why, in words for operators.
    pub fn readiness(&self) -> Result<(), &'static str> {
        if self.read.read().holds() { Ok(()) } else { Err("the tokens cannot be read") }
    }

    /// The token with that digest. It is accepted at this moment if [`Accepted::check_expiry`] says so.
    ///
    /// # Errors
    ///
    /// It is not among those of the store; or the tokens were read too long ago.
    pub fn find(&self, digest: &TokenDigest) -> Result<Arc<Accepted>, Refusal> {
        let read = self.read.read();
        if !read.holds() {
            return Err(Refusal::StoreUnavailable);
        }
        read.tokens.get(digest).map(Arc::clone).ok_or(Refusal::TokenNotAccepted)
    }

    /// Reads the tokens again and again. While that fails, the log says so: a fault of the disk must not
    /// become a 401.
    pub async fn watch(self, store: Arc<dyn Engine>, log: Logger) {
        let mut ticks = interval(READ_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut last_cause = None;
        loop {
            ticks.tick().await;
            let (tokens, store) = (self.clone(), Arc::clone(&store));
            let read = spawn_blocking(move || tokens.read(&*store).map_err(|it| it.to_string()));
            let cause = read.await.unwrap_or_else(|panic| Err(panic.to_string())).err();
            // A cause that lasts is said once.
            if let Some(cause) = cause.as_ref().filter(|_| cause != last_cause) {
                warn!(log, "the tokens cannot be read"; "cause" => cause);
            }
            last_cause = cause;
        }
    }
}

impl Read {
    fn holds(&self) -> bool {
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
