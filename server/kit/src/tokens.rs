//! Bearer tokens: their format, how they are issued, and the tokens that a server accepts.
//!
//! A token is the prefix, 32 random base62 characters (190 bits), and the CRC-32 of these
//! characters as six base62 digits. The prefix and the checksum let a secret scanner recognize a
//! leaked token offline, and let the service refuse a mistyped token without a lookup.
//!
//! Authentication never reads the store. A dedicated thread reads all tokens twice a second, and
//! each snapshot is valid for the duration of the [`LEASE`], counted from before it was read. A
//! command that changes the tokens waits for that duration, so no server accepts a token after
//! `token revoke` has returned. This includes a server that was stopped or suspended, and a server
//! that cannot read its store. It does not include a paused virtual machine, whose clock stops with
//! it, and a server that still reads an old primary. Expiry is checked at each request.
//!
//! A token exists as text in only two places: where it is parsed, and where it is shown to its
//! owner, once. Nothing here may print a token, and a snapshot contains only the digest and the
//! first characters of each token.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use anyhow::ensure;
use chrono::{DateTime, Utc};
use groundwork_store::token::{StoredToken, TokenDigest, TokenName};
use groundwork_store::{self as store, Engine, WarningDedup};
use metrics::{Unit, describe_gauge, gauge};
use nix::time::{ClockId, clock_gettime};
use parking_lot::RwLock;
use rand::{RngExt, distr::Alphanumeric};
use sha2::{Digest, Sha256};
use slog::{Logger, warn};
use tokio::sync::Semaphore;
use tokio::time::interval;

use crate::error::{ErrorCode, Refusal};

/// How long a server may use the tokens that it has read.
///
/// A command that changes the tokens waits for this duration. After that, every server has either
/// read the change or accepts no token.
pub const LEASE: Duration = Duration::from_secs(2);

/// Issues a new token with this prefix. Returns the token, to be shown to its owner, and the entry
/// that makes a store accept it.
pub fn issue(
    prefix: &str,
    name: TokenName,
    expires_at: Option<DateTime<Utc>>,
) -> (Token, StoredToken) {
    let token = Token::random(prefix);
    let stored = StoredToken {
        name,
        digest: digest(token.reveal()),
        first_characters: token.reveal()[..prefix.len() + SHOWN].to_owned(),
        created_at: Utc::now(),
        expires_at,
    };
    (token, stored)
}

const SECRET: usize = 32;
const CHECKSUM: usize = 6;

/// How many of the 32 random characters `token list` shows, so that the owner of a token can
/// recognize it: too few to guess the rest.
const SHOWN: usize = 4;

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A new token. It does not implement `Debug`, so it cannot be logged by accident.
pub struct Token(String);

impl Token {
    /// Creates a token with the thread-local cryptographic generator, which is seeded by the
    /// operating system.
    fn random(prefix: &str) -> Self {
        let secret = [(); SECRET].map(|()| rand::rng().sample(Alphanumeric));
        let sum = checksum(&secret);
        let random = secret.iter().chain(&sum).map(|byte| char::from(*byte));
        Self(prefix.chars().chain(random).collect())
    }

    /// Returns the text of the token, to be shown to its owner. Everything else may use at most its
    /// prefix and [`SHOWN`] characters.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

/// Parses a token, accepted or not, and returns the digest that a store would keep of it. Returns
/// `None` if the prefix, the length, the alphabet or the checksum is wrong.
pub fn parse(prefix: &str, text: &str) -> Option<TokenDigest> {
    let random = text.as_bytes().strip_prefix(prefix.as_bytes())?;
    let (secret, sum) = random.split_at_checked(SECRET)?;
    let is_valid = random.iter().all(u8::is_ascii_alphanumeric) && sum == checksum(secret);
    is_valid.then(|| digest(text))
}

/// Plain SHA-256 is sufficient, because 190 random bits cannot be guessed with a dictionary.
fn digest(token: &str) -> TokenDigest {
    TokenDigest(Sha256::digest(token.as_bytes()).into())
}

fn checksum(secret: &[u8]) -> [u8; CHECKSUM] {
    let mut rest = crc32fast::hash(secret);
    let mut digits = [b'0'; CHECKSUM];
    for digit in digits.iter_mut().rev() {
        *digit = BASE62[(rest % 62) as usize];
        rest /= 62;
    }
    digits
}

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

#[cfg(test)]
mod tests;
