//! The tokens that the running server accepts, in memory.
//!
//! A request never reads the store to be authenticated. A task asks the store ten times a second
//! whether the tokens have changed, and reloads them then; the command that changed them waits for
//! it. Expiry is checked against the clock at each request.
//!
//! Only digests are here. Nothing in this module may keep a token.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use slog::{Logger, warn};

use crate::store::{Engine, StoreError};
use crate::token::{StoredToken, Token, TokenDigest};

/// How often the store is asked whether the tokens have changed.
const ASK_EVERY: Duration = Duration::from_millis(100);

/// How often the tokens are reloaded although nobody said that they have changed.
const RELOAD_EVERY: Duration = Duration::from_secs(1);

/// The accepted tokens, shared between the requests and the reloading task.
#[derive(Clone)]
pub struct AcceptedTokens(Arc<RwLock<HashMap<TokenDigest, Accepted>>>);

/// What is known of an accepted token.
struct Accepted {
    /// For the access records: each carries it, so it is shared.
    name: Arc<str>,
    expires_at: Option<DateTime<Utc>>,
}

impl AcceptedTokens {
    /// The tokens that the store holds now.
    pub fn load(engine: &dyn Engine) -> Result<Self, StoreError> {
        Ok(Self(Arc::new(RwLock::new(by_digest(engine.tokens()?)))))
    }

    /// Whether there is no token at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// The name of the token, if it is accepted at this moment.
    #[must_use]
    pub fn name_of(&self, token: &Token) -> Option<Arc<str>> {
        let accepted = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let found = accepted.get(&token.digest())?;
        let expired = found.expires_at.is_some_and(|expiry| expiry <= Utc::now());
        (!expired).then(|| Arc::clone(&found.name))
    }

    /// Reloads the set when it has changed, for as long as the returned future is polled.
    ///
    /// While the store cannot be read, the last known set stays, and the log says so: a fault of
    /// the disk must not become a 401.
    pub async fn keep_fresh(self, engine: Arc<dyn Engine>, log: Logger) {
        let mut ticks = tokio::time::interval(ASK_EVERY);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut known = None;
        let mut last_cause = String::new();
        loop {
            ticks.tick().await;
            let (tokens, engine) = (self.clone(), Arc::clone(&engine));
            let refreshed =
                tokio::task::spawn_blocking(move || tokens.refresh(&*engine, known)).await;
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

    /// Reloads the set if that many changes are not all, or if it is time to; returns what is known
    /// then.
    fn refresh(&self, engine: &dyn Engine, known: Option<Known>) -> Result<Known, StoreError> {
        let changes = engine.token_changes()?;
        if let Some(known) = known
            && known.changes == changes
            && known.since.elapsed() < RELOAD_EVERY
        {
            return Ok(known);
        }
        let since = Instant::now();
        let tokens = by_digest(engine.tokens()?);
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = tokens;
        engine.confirm_tokens(changes)?;
        Ok(Known { changes, since })
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
        warn!(log, "the tokens cannot be reloaded: those known stay"; "cause" => &cause);
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
