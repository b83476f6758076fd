//! How a request is repeated: when, how often, and with which token.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use reqwest::Request;

use crate::Failure;
use crate::exchange::{Sent, Unsuccessful};
use crate::token::Tokens;

/// The longest `Retry-After` that is waited for.
const LONGEST_RETRY_AFTER: Duration = Duration::from_mins(1);

/// Called before a repeat, with the reason for it and the length of the pause.
pub(crate) type Hook = dyn Fn(&Failure, Duration) + Send + Sync;

/// How requests are repeated.
#[derive(Clone)]
pub(crate) struct Repeats {
    pub policy: ExponentialBuilder,
    pub tokens: Arc<Tokens>,
    /// Whether a refusal past the rate of the token is returned, and not repeated.
    pub returns_past_rate: bool,
    pub before_repeat: Arc<Hook>,
}

impl Repeats {
    /// Sends a request until it succeeds, cannot succeed, or the policy ends.
    pub(crate) async fn send(&self, http: &reqwest::Client, request: &Request) -> Sent {
        let send = || self.tokens.send(http, request);
        send.retry(self.policy)
            .when(|unsuccessful| self.is_repeated(&unsuccessful.failure))
            .adjust(|unsuccessful, pause| Some(pause? + asked_for(unsuccessful)))
            .notify(|unsuccessful, pause| (self.before_repeat)(&unsuccessful.failure, pause))
            .await
    }

    fn is_repeated(&self, failure: &Failure) -> bool {
        failure.is_retryable() && !(self.returns_past_rate && failure.is_past_rate())
    }
}

/// The `Retry-After` of an answer: a pause is longer by it.
fn asked_for(unsuccessful: &Unsuccessful) -> Duration {
    unsuccessful.failure.retry_after().unwrap_or_default().min(LONGEST_RETRY_AFTER)
}

/// Shows no token.
impl Debug for Repeats {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Repeats").field("policy", &self.policy).finish_non_exhaustive()
    }
}
