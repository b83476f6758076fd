//! Retries a request: when, how often, and with which token.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use reqwest::Request;

use crate::Failure;
use crate::exchange::{SendError, SendResult};
use crate::token::SharedToken;

/// The longest `Retry-After` that the client honours.
const LONGEST_RETRY_AFTER: Duration = Duration::from_mins(1);

/// A function that is called before a retry, with the reason for it and the length of the pause.
pub(crate) type Hook = dyn Fn(&Failure, Duration) + Send + Sync;

/// How requests are retried.
#[derive(Clone)]
pub(crate) struct Retrier {
    pub policy: ExponentialBuilder,
    pub token: Arc<SharedToken>,
    /// Whether a refusal with 429 is returned instead of retried.
    pub returns_rate_limited: bool,
    pub before_retry: Arc<Hook>,
}

impl Retrier {
    /// Sends a request until it succeeds, cannot succeed, or the policy ends.
    pub(crate) async fn send(&self, http: &reqwest::Client, request: &Request) -> SendResult {
        let send = || self.token.send(http, request);
        send.retry(self.policy)
            .when(|error| self.is_retried(&error.failure))
            .adjust(|error, pause| Some(pause? + retry_after(error)))
            .notify(|error, pause| (self.before_retry)(&error.failure, pause))
            .await
    }

    fn is_retried(&self, failure: &Failure) -> bool {
        failure.is_retryable() && !(self.returns_rate_limited && failure.is_rate_limited())
    }
}

/// The `Retry-After` of a response, which is added to the pause.
fn retry_after(error: &SendError) -> Duration {
    error.failure.retry_after().unwrap_or_default().min(LONGEST_RETRY_AFTER)
}

/// Shows no token.
impl Debug for Retrier {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Retrier").field("policy", &self.policy).finish_non_exhaustive()
    }
}
