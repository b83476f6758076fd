//! The tokens that the running server accepts, in memory.
//!
//! A request never reads the store to be authenticated. A task reloads the set once a second, so a
//! token is accepted, or refused, about a second after the command that issued or revoked it.
//! Expiry is checked against the clock at each request.
//!
//! Only digests are here. Nothing in this module may keep a token.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use chrono::{DateTime, Utc};
use slog::{Logger, warn};

use crate::store::{Engine, StoreError};
use crate::token::{StoredToken, Token, TokenDigest};

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

    /// The name of the token, if it is accepted at this moment.
    #[must_use]
    pub fn name_of(&self, token: &Token) -> Option<Arc<str>> {
        let accepted = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let found = accepted.get(&token.digest())?;
        let expired = found.expires_at.is_some_and(|expiry| expiry <= Utc::now());
        (!expired).then(|| Arc::clone(&found.name))
    }

    /// Reloads the set once a second, for as long as the returned future is polled.
    ///
    /// While the store cannot be read, the last known set stays, and the log says so: a fault of
    /// the disk must not become a 401.
    pub async fn keep_fresh(self, engine: Arc<dyn Engine>, log: Logger) {
        let mut ticks = tokio::time::interval(RELOAD_EVERY);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let engine = Arc::clone(&engine);
            match tokio::task::spawn_blocking(move || engine.tokens()).await {
                Ok(Ok(tokens)) => {
                    *self.0.write().unwrap_or_else(PoisonError::into_inner) = by_digest(tokens);
                }
                Ok(Err(error)) => {
                    warn!(log, "the tokens cannot be reloaded: those known stay"; "cause" => %error);
                }
                Err(error) => {
                    warn!(log, "the tokens were not reloaded"; "cause" => %error);
                }
            }
        }
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
