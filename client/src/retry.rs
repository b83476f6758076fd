//! A client that repeats what may succeed later.
//!
//! A create is safe to repeat, also if the first attempt has stored the plant: the id is the
//! client's, and the service answers the same plant under the same id with 200 again. So a client
//! that lost an answer can neither lose nor double a plant by sending it again.

use std::error::Error as StdError;
use std::fmt::{self, Debug, Display, Formatter};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::failure::with_causes;
use crate::{
    Client, ClientOptions, Error, ErrorCode, Failure, InvalidClient, ResponseValue, types,
};

/// The longest `Retry-After` that is waited for.
const LONGEST_RETRY_AFTER: Duration = Duration::from_mins(1);

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

/// What an operation of [`Client`] answers.
pub type Answer<T> = Result<ResponseValue<T>, Error<types::Error>>;

/// A token, or why there is none.
pub type Provided = Result<String, Box<dyn StdError + Send + Sync>>;

type Providing = Pin<Box<dyn Future<Output = Provided> + Send>>;

type Provider = dyn Fn() -> Providing + Send + Sync;

/// A repeat that comes after a pause.
#[derive(Debug)]
#[non_exhaustive]
pub struct Retry<'a> {
    /// Why the last try failed.
    pub failure: &'a Failure,
    /// How many tries have failed, from 1 on.
    pub tries: usize,
    /// How long the client waits before it tries again.
    pub pause: Duration,
}

/// A client that repeats what may succeed later ([`Failure::is_retryable`]), and that gets a new
/// token if the service no longer accepts the old one. Its clones share the token and the
/// connections.
#[derive(Clone)]
pub struct RetryingClient {
    options: ClientOptions,
    policy: ExponentialBuilder,
    provider: Arc<Provider>,
    hook: Arc<dyn Fn(&Retry<'_>) + Send + Sync>,
    current: Arc<Mutex<Current>>,
}

/// The client of the last token.
struct Current {
    client: Client,
    token: String,
    /// How often another token was asked for, and why the last time brought none.
    asked: u64,
    no_token: Option<String>,
}

impl RetryingClient {
    /// A client that takes its token from `provider`: at once, and again after each refusal with
    /// [`ErrorCode::Unauthorized`]. If it then gives another token, the request is sent once more with that one.
    /// Requests that are refused at the same time ask it once, whatever it answers. It has the time
    /// of a request, [`ClientOptions::timeout`].
    pub async fn new<F, Fut>(options: ClientOptions, provider: F) -> Result<Self, InvalidClient>
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Provided> + Send + 'static,
    {
        let provider: Arc<Provider> = Arc::new(move || Box::pin(provider()));
        let (client, token) = provided(&options, &*provider).await?;
        let current = Arc::new(Mutex::new(Current { client, token, asked: 0, no_token: None }));
        Ok(Self { options, policy: retry_policy(), provider, hook: Arc::new(|_| {}), current })
    }

    /// Repeats by this policy instead of [`retry_policy`].
    #[must_use]
    pub fn with_policy(self, policy: ExponentialBuilder) -> Self {
        Self { policy, ..self }
    }

    /// Calls `hook` before each pause: to count repeats, or to log why they come.
    #[must_use]
    pub fn on_retry(self, hook: impl Fn(&Retry<'_>) + Send + Sync + 'static) -> Self {
        Self { hook: Arc::new(hook), ..self }
    }

    /// Creates a plant, and repeats it by the policy. It takes a builder, a plant, or a reference to
    /// one. Returns the last failure when the policy ends.
    pub async fn create_plant<P>(&self, plant: P) -> Result<ResponseValue<types::Plant>, Failure>
    where
        P: TryInto<types::NewPlant>,
        P::Error: Display,
    {
        let plant = plant.try_into().map_err(|error| Error::InvalidRequest(error.to_string()))?;
        let plant = &plant;
        let send = |client: Client| async move { client.create_plant().body(plant).send().await };
        self.repeat(send).await
    }

    /// Repeats an operation by the policy. It must be safe to repeat, as a create is. A pause is at
    /// least as long as a `Retry-After` of up to a minute says.
    pub async fn repeat<T, Fut>(
        &self,
        operation: impl Fn(Client) -> Fut,
    ) -> Result<ResponseValue<T>, Failure>
    where
        Fut: Future<Output = Answer<T>>,
    {
        let mut tries = 0;
        let notify = |failure: &Failure, pause| {
            tries += 1;
            (self.hook)(&Retry { failure, tries, pause });
        };
        (|| self.attempt(&operation))
            .retry(self.policy)
            .when(Failure::is_retryable)
            .adjust(|failure, pause| Some(pause? + failure.retry_after().min(LONGEST_RETRY_AFTER)))
            .notify(notify)
            .await
    }

    /// Sends an operation, and once more if its token is refused and there is another one.
    async fn attempt<T, Fut>(
        &self,
        operation: &impl Fn(Client) -> Fut,
    ) -> Result<ResponseValue<T>, Failure>
    where
        Fut: Future<Output = Answer<T>>,
    {
        let (client, token, asked) = {
            let current = self.current.lock().await;
            (current.client.clone(), current.token.clone(), current.asked)
        };
        match operation(client).await {
            Err(Error::ErrorResponse(refusal))
                if ErrorCode::from(refusal.error) == ErrorCode::Unauthorized =>
            {
                match self.with_another_token(&token, asked).await {
                    Ok(client) => Ok(operation(client).await?),
                    Err(why) => Err(Failure::without_token(Error::ErrorResponse(refusal), why)),
                }
            }
            answer => Ok(answer?),
        }
    }

    /// A client with another token than the refused one, or why there is none. `asked` is from the
    /// time before the refusal: if the provider was asked since, what it gave is taken.
    async fn with_another_token(
        &self,
        refused: &str,
        asked: u64,
    ) -> Result<Client, Option<String>> {
        let mut current = self.current.lock().await;
        if current.token == refused && current.asked == asked {
            match provided(&self.options, &*self.provider).await {
                Ok((client, token)) => *current = Current { client, token, asked, no_token: None },
                Err(error) => current.no_token = Some(with_causes(&error)),
            }
            current.asked += 1;
        }
        match current.token == refused {
            true => Err(current.no_token.clone()),
            false => Ok(current.client.clone()),
        }
    }
}

/// Shows no token.
impl Debug for RetryingClient {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RetryingClient")
            .field("options", &self.options)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}

/// A client with the provider's token.
async fn provided(
    options: &ClientOptions,
    provider: &Provider,
) -> Result<(Client, String), InvalidClient> {
    let token = timeout(options.timeout, provider()).await.unwrap_or_else(|_| {
        Err(format!("the provider of the token took longer than {:?}", options.timeout).into())
    });
    let token = token.map_err(InvalidClient::Provider)?;
    Ok((options.client(&token)?, token))
}

#[cfg(test)]
mod tests;
