//! A client that repeats what may succeed later.
//!
//! Each operation of the contract is safe to repeat, also if the first attempt has stored the
//! plant: the id is the client's, and the service answers the same plant under the same id with 200
//! again. So a client that lost an answer can neither lose nor double a plant by sending it again.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use backon::ExponentialBuilder;

use crate::hooks::Sending;
use crate::repeats::Repeats;
use crate::token::{Provided, Tokens};
use crate::{Client, ClientOptions, Failure, InvalidClient};

/// The default policy: up to 10 repeats, after pauses of 0.1 to 10 seconds that double. To each
/// pause comes a random part of up to its own length, so that the clients that lost the same
/// service do not all return at the same moment.
#[must_use]
pub fn retry_policy() -> ExponentialBuilder {
    ExponentialBuilder::new()
        .with_min_delay(Duration::from_millis(100))
        .with_max_delay(Duration::from_secs(10))
        .with_max_times(10)
        .with_jitter()
}

/// A [`Client`] whose operations are repeated if that may succeed ([`Failure::is_retryable`]), and
/// that gets a new token if the service no longer accepts the old one. Its clones share the token
/// and the connections.
#[derive(Clone, Debug)]
pub struct RetryingClient(Client);

impl RetryingClient {
    /// A client that takes its token from `provider`: at once, and again after each refusal with
    /// [`ErrorCode::Unauthorized`](crate::ErrorCode::Unauthorized). If it then gives another token,
    /// the request is sent once more with that one. Requests that are refused at the same time ask
    /// it once, whatever it answers. It has the time of a request, [`ClientOptions::timeout`].
    pub async fn new<F, Fut>(options: ClientOptions, provider: F) -> Result<Self, InvalidClient>
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Provided> + Send + 'static,
    {
        let mut client = options.without_token()?;
        let tokens = Tokens::new(Box::new(move || Box::pin(provider())), options.timeout).await?;
        client.inner = Sending(Some(Repeats {
            policy: retry_policy(),
            tokens: Arc::new(tokens),
            returns_past_rate: false,
            before_repeat: Arc::new(|_, _| {}),
        }));
        Ok(Self(client))
    }

    /// Repeats by this policy instead of [`retry_policy`].
    #[must_use]
    pub fn with_policy(mut self, policy: ExponentialBuilder) -> Self {
        self.repeats().policy = policy;
        self
    }

    /// Calls `hook` before each repeat, with why it is needed and how long the pause before it is:
    /// for logs, traces and metrics.
    #[must_use]
    pub fn before_repeat(
        mut self,
        hook: impl Fn(&Failure, Duration) + Send + Sync + 'static,
    ) -> Self {
        self.repeats().before_repeat = Arc::new(hook);
        self
    }

    /// Returns a refusal past the rate of the token at once: its caller holds back all its requests.
    #[cfg(feature = "cli")]
    pub(crate) fn returning_past_rate(mut self) -> Self {
        self.repeats().returns_past_rate = true;
        self
    }

    fn repeats(&mut self) -> &mut Repeats {
        self.0.inner.0.as_mut().expect("a retrying client is made with its repeats")
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

    /// A consumer may give it to another thread.
    #[test]
    fn create_is_send() {
        fn is_send(_: impl Send) {}
        let _ = |client: &RetryingClient, plant: NewPlant| {
            is_send(client.create_plant().body(plant).send());
        };
    }
}
