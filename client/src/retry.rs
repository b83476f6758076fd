//! A client that retries requests which may succeed later.
//!
//! Every operation of the contract is idempotent. The client chooses the id, so if the first
//! attempt stored the plant, the service answers the same plant under the same id with 200 again. A
//! client that lost a response can therefore neither lose nor duplicate a plant by sending it
//! again.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use backon::ExponentialBuilder;

use crate::hooks::SendPolicy;
use crate::retrier::Retrier;
use crate::token::{SharedToken, TokenResult};
use crate::{Client, ClientOptions, Failure, InvalidClient};

/// Returns the default retry policy: up to 10 retries, with exponential backoff from 0.1 to 10
/// seconds. Jitter adds up to the length of each pause, so that clients which lost the same service
/// do not all return at the same moment.
#[must_use]
pub fn retry_policy() -> ExponentialBuilder {
    ExponentialBuilder::new()
        .with_min_delay(Duration::from_millis(100))
        .with_max_delay(Duration::from_secs(10))
        .with_max_times(10)
        .with_jitter()
}

/// A [`Client`] that retries an operation if a retry may succeed ([`Failure::is_retryable`]), and
/// gets a new token if the service no longer accepts the old one. Its clones share the token and
/// the connections.
#[derive(Clone, Debug)]
pub struct RetryingClient(Client);

impl RetryingClient {
    /// Builds a client that takes its token from `provider`.
    ///
    /// The client calls the provider at once, and again after each refusal with
    /// [`ErrorCode::Unauthorized`](crate::ErrorCode::Unauthorized). If the provider then returns a
    /// different token, the client sends the request once more with the new token. Requests that
    /// are refused at the same time share one call, whatever it returns. A call times out after
    /// [`ClientOptions::timeout`], like a request.
    pub async fn new<F, Fut>(options: ClientOptions, provider: F) -> Result<Self, InvalidClient>
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = TokenResult> + Send + 'static,
    {
        let mut client = options.client_without_token()?;
        let token =
            SharedToken::new(Box::new(move || Box::pin(provider())), options.timeout).await?;
        client.inner = SendPolicy(Some(Retrier {
            policy: retry_policy(),
            token: Arc::new(token),
            returns_rate_limited: false,
            before_retry: Arc::new(|_, _| {}),
        }));
        Ok(Self(client))
    }

    /// Uses this policy instead of [`retry_policy`].
    #[must_use]
    pub fn with_policy(mut self, policy: ExponentialBuilder) -> Self {
        self.retrier().policy = policy;
        self
    }

    /// Calls `hook` before each retry, with the reason for it and the length of the pause: for
    /// logs, traces and metrics.
    #[must_use]
    pub fn before_retry(
        mut self,
        hook: impl Fn(&Failure, Duration) + Send + Sync + 'static,
    ) -> Self {
        self.retrier().before_retry = Arc::new(hook);
        self
    }

    /// Returns a refusal with 429 at once: the caller holds back all its requests.
    #[cfg(feature = "cli")]
    pub(crate) fn returning_rate_limited(mut self) -> Self {
        self.retrier().returns_rate_limited = true;
        self
    }

    fn retrier(&mut self) -> &mut Retrier {
        self.0.inner.0.as_mut().expect("a retrying client is built with a retrier")
    }
}

impl Deref for RetryingClient {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::NewPlant;

    /// A consumer may spawn a create on another thread.
    #[test]
    fn create_is_send() {
        fn is_send(_: impl Send) {}
        let _ = |client: &RetryingClient, plant: NewPlant| {
            is_send(client.create_plant().body(plant).send());
        };
    }
}
