//! The tokens that the running server accepts, in memory.
//!
//! Authentication never reads the store. Ten times a second a task asks the store whether the tokens
//! have changed, and then reloads them; the command that changed them waits for that. Expiry is
//! checked against the clock at each request.
//!
//! Only digests are here. Nothing in this module may keep a token.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use slog::{Logger, warn};

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
pub struct AcceptedTokens(Arc<RwLock<Loaded>>);

/// The tokens as they were read last.
#[derive(Default)]
struct Loaded {
    tokens: Option<HashMap<TokenDigest, Accepted>>,
    /// Until when they may be used, see [`ServedStore::tokens_hold_for`]. After that, a command that
    /// did not wait for this server may have revoked a token.
    until: Option<Instant>,
}

/// Why a token is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAccepted {
    /// It is not among those of the store, or it has expired.
    Refused,
    /// The store could not be asked yet, or for too long.
    NotKnown,
}

/// What the service knows about an accepted token.
struct Accepted {
    /// For the access records: each carries it, so it is shared.
    name: Arc<str>,
    expires_at: Option<DateTime<Utc>>,
}

impl AcceptedTokens {
    /// Loads the tokens that the store holds now, and returns how many there are.
    pub fn load(&self, store: &dyn Contents) -> Result<usize, StoreError> {
        let tokens = by_digest(store.tokens()?);
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

    /// The name of the token, if it is accepted at this moment.
    pub fn name_of(&self, token: &Token) -> Result<Arc<str>, NotAccepted> {
        let loaded = self.loaded();
        let known = loaded.tokens.as_ref().filter(|_| !loaded.are_old());
        let found =
            known.ok_or(NotAccepted::NotKnown)?.get(&token.digest()).ok_or(NotAccepted::Refused)?;
        match found.expires_at {
            Some(expiry) if expiry <= Utc::now() => Err(NotAccepted::Refused),
            _ => Ok(Arc::clone(&found.name)),
        }
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

    fn loaded(&self) -> RwLockReadGuard<'_, Loaded> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn loaded_mut(&self) -> RwLockWriteGuard<'_, Loaded> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
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

fn by_digest(tokens: Vec<StoredToken>) -> HashMap<TokenDigest, Accepted> {
    tokens
        .into_iter()
        .map(|token| {
            let accepted =
                Accepted { name: token.name.as_str().into(), expires_at: token.expires_at };
            (token.digest, accepted)
        })
        .collect()
}
