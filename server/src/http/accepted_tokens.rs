//! The tokens that the running server accepts, in memory.
//!
//! Authentication never reads the store. Ten times a second a task asks the store whether the tokens
//! have changed, and then reloads them; the command that changed them waits for that. Expiry is
//! checked against the clock at each request.
//!
//! Only digests are here. Nothing in this module may keep a token.

use std::collections::HashMap;
use std::convert::Infallible;
use std::num::NonZeroU32;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use slog::{Logger, warn};

use crate::http::rates::Rate;
use crate::store::{Contents, ServedStore, StoreError};
use crate::token::{StoredToken, Token, TokenDigest};

/// How often the store is asked whether the tokens have changed.
const ASK_EVERY: Duration = Duration::from_millis(100);

/// How often the tokens are reloaded even if the store does not say that they have changed.
const RELOAD_EVERY: Duration = Duration::from_secs(1);

/// The accepted tokens, shared between the requests and the reloading task.
///
/// By default they are not known: before they are loaded, no token is accepted and none refused.
#[derive(Clone, Default)]
pub struct AcceptedTokens {
    loaded: Arc<RwLock<Loaded>>,
    /// How many creates a second each token may send.
    max_rate: Option<NonZeroU32>,
}

/// The tokens as they were read last.
#[derive(Default)]
struct Loaded {
    tokens: Option<ByDigest>,
    /// Until when they may be used, see [`ServedStore::tokens_hold_for`]. After that, a command that
    /// did not wait for this server may have revoked a token.
    until: Option<Instant>,
}

type ByDigest = HashMap<TokenDigest, Arc<Accepted>>;

/// An accepted token.
pub struct Accepted {
    /// What the store keeps of it.
    pub token: StoredToken,
    /// Its rate, if tokens have one.
    pub rate: Option<Rate>,
}

/// Why a token is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAccepted {
    /// It is not among those of the store, or it has expired.
    Refused,
    /// The store could not be asked yet, or for too long.
    NotKnown,
}

impl AcceptedTokens {
    /// No tokens yet. Each may send so many creates a second; without a number, any.
    #[must_use]
    pub fn new(max_rate: Option<NonZeroU32>) -> Self {
        Self { max_rate, ..Self::default() }
    }

    /// Loads the tokens that the store holds now, and returns how many there are.
    pub fn load(&self, store: &dyn Contents) -> Result<usize, StoreError> {
        let tokens = self.by_digest(store.tokens()?);
        let count = tokens.len();
        self.loaded_mut().tokens = Some(tokens);
        Ok(count)
    }

    /// Whether the tokens are known. If not, the error says why, in words for operators.
    pub fn readiness(&self) -> Result<(), &'static str> {
        let loaded = self.loaded();
        match loaded.tokens {
            None => Err("the store has not been reached yet"),
            Some(_) if loaded.are_old() => Err("the tokens cannot be read"),
            Some(_) => Ok(()),
        }
    }

    /// The token, if it is accepted at this moment.
    pub fn find(&self, token: &Token) -> Result<Arc<Accepted>, NotAccepted> {
        let loaded = self.loaded();
        let known = loaded.tokens.as_ref().filter(|_| !loaded.are_old());
        let found = known.ok_or(NotAccepted::NotKnown)?.get(&token.digest());
        let found = found.filter(|found| !found.token.has_expired());
        found.map(Arc::clone).ok_or(NotAccepted::Refused)
    }

    /// Reloads the set when it has changed. Never ends.
    ///
    /// While the store cannot be read, the last known set stays, and the log says so: a fault of the
    /// disk must not become a 401. It stays for [`ServedStore::tokens_hold_for`].
    pub async fn keep_fresh(self, store: Arc<dyn ServedStore>, log: Logger) -> Infallible {
        let mut ticks = tokio::time::interval(ASK_EVERY);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        self.hold(&*store, Instant::now());
        let mut known = None;
        let mut last_cause = String::new();
        loop {
            ticks.tick().await;
            let (tokens, store) = (self.clone(), Arc::clone(&store));
            let refreshed =
                tokio::task::spawn_blocking(move || tokens.refresh(&*store, known)).await;
            match refreshed.map_err(|panic| panic.to_string()) {
                Ok(Ok(changes)) => {
                    known = Some(changes);
                    last_cause.clear();
                }
                Ok(Err(error)) => report(&log, &mut last_cause, error.to_string()),
                Err(panic) => report(&log, &mut last_cause, panic),
            }
        }
    }

    /// Reloads the set if the tokens have changed, or if the set is old. Returns what is known
    /// afterwards.
    fn refresh(&self, store: &dyn ServedStore, known: Option<Known>) -> Result<Known, StoreError> {
        let changes = store.token_changes()?;
        if let Some(known) = known
            && known.changes == changes
            && known.since.elapsed() < RELOAD_EVERY
        {
            return Ok(known);
        }
        let since = Instant::now();
        self.load(store)?;
        store.confirm_tokens(changes)?;
        self.hold(store, since);
        Ok(Known { changes, since })
    }

    fn hold(&self, store: &dyn ServedStore, since: Instant) {
        self.loaded_mut().until = store.tokens_hold_for().map(|time| since + time);
    }

    /// A token that was loaded before keeps what it has used of its rate.
    fn by_digest(&self, tokens: Vec<StoredToken>) -> ByDigest {
        let last = self.loaded().tokens.clone().unwrap_or_default();
        let accept = |token: StoredToken| match last.get(&token.digest) {
            Some(last) if last.token == token => Arc::clone(last),
            _ => {
                let rate = self.max_rate.map(|limit| Rate::new(limit, token.name.as_str()));
                Arc::new(Accepted { token, rate })
            }
        };
        tokens.into_iter().map(|token| (token.digest, accept(token))).collect()
    }

    fn loaded(&self) -> RwLockReadGuard<'_, Loaded> {
        self.loaded.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn loaded_mut(&self) -> RwLockWriteGuard<'_, Loaded> {
        self.loaded.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Loaded {
    fn are_old(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }
}

/// Which tokens the set holds.
#[derive(Clone, Copy)]
struct Known {
    /// Those after so many changes.
    changes: u32,
    /// When they were read.
    since: Instant,
}

/// A cause that lasts is reported once.
fn report(log: &Logger, last_cause: &mut String, cause: String) {
    if cause != *last_cause {
        warn!(log, "the tokens cannot be read"; "cause" => &cause);
        *last_cause = cause;
    }
}
