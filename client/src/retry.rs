//! A client that repeats what may succeed later.
//!
//! A create is safe to repeat, also if the first attempt has stored the plant: the id is the
//! client's, and the service answers the same plant under the same id with 200 again. So a client
//! that lost an answer can neither lose nor double a plant by sending it again.

mod operations;

use std::error::Error as StdError;
use std::fmt::{self, Debug, Formatter};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::failure::{request_id, with_causes};
use crate::{Client, ClientOptions, Error, Failure, InvalidClient, ResponseValue, types};

/// The longest `Retry-After` that is waited for.
pub(crate) const LONGEST_RETRY_AFTER: Duration = Duration::from_mins(1);

/// The deadline of an operation that has none.
const NEVER: Duration = Duration::from_hours(24 * 365);

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

/// A request that was sent, and what became of it: for logs, traces and metrics.
#[derive(Debug)]
#[non_exhaustive]
pub struct Try<'a> {
    /// Which try of the operation it was, from 1 on.
    pub number: usize,
    /// From its first byte to the last byte of its answer.
    pub took: Duration,
    /// The id under which the log of the service has it, if an answer came.
    pub request_id: Option<&'a str>,
    /// Why it failed, if it did.
    pub failure: Option<&'a Failure>,
    /// How long the client waits before it tries again, if it does.
    pub pause: Option<Duration>,
}

/// A client that repeats what may succeed later ([`Failure::is_retryable`]), and that gets a new
/// token if the service no longer accepts the old one. Its clones share the token and the
/// connections.
#[derive(Clone)]
pub struct RetryingClient {
    options: ClientOptions,
    policy: ExponentialBuilder,
    provider: Arc<Provider>,
    deadline: Option<Duration>,
    hook: Arc<dyn Fn(&Try<'_>) + Send + Sync>,
    current: Arc<Mutex<Current>>,
}

/// The client of the last token.
#[derive(Clone)]
struct Current {
    client: Client,
    token: String,
    /// How often another token was asked for, and why the last time brought none.
    asked: u64,
    no_token: Option<String>,
}

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
        let provider: Arc<Provider> = Arc::new(move || Box::pin(provider()));
        let (client, token) = provided(&options, &*provider).await?;
        let current = Arc::new(Mutex::new(Current { client, token, asked: 0, no_token: None }));
        let policy = retry_policy();
        let hook = Arc::new(|_: &Try<'_>| {});
        Ok(Self { options, policy, provider, deadline: None, hook, current })
    }

    /// Repeats by this policy instead of [`retry_policy`].
    #[must_use]
    pub fn with_policy(self, policy: ExponentialBuilder) -> Self {
        Self { policy, ..self }
    }

    /// Ends an operation after this time, with all its tries and pauses. A pause that would go
    /// beyond it is not begun: the failure before it is the result. By default there is none.
    #[must_use]
    pub fn with_deadline(self, deadline: Duration) -> Self {
        Self { deadline: Some(deadline), ..self }
    }

    /// Calls `hook` after each try, whatever came of it, and before the pause that follows.
    #[must_use]
    pub fn on_try(self, hook: impl Fn(&Try<'_>) + Send + Sync + 'static) -> Self {
        Self { hook: Arc::new(hook), ..self }
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
        let deadline = self.deadline.unwrap_or(NEVER);
        let ends = Instant::now() + deadline;
        let mut pauses = self.policy.build();
        let mut had_another_token = false;
        for number in 1.. {
            let Ok(used) = timeout_at(ends, self.current.lock()).await.map(|used| used.clone())
            else {
                break;
            };
            let started = Instant::now();
            let answer = timeout_at(ends, operation(used.client.clone())).await;
            let took = started.elapsed();
            let mut result = match answer {
                Ok(answer) => answer.map_err(Failure::from),
                Err(_) => Err(Failure::of_deadline(deadline)),
            };
            let wanted = match &mut result {
                Err(failure) if failure.is_unauthorized() && !had_another_token => {
                    had_another_token = true;
                    self.another_token(&used, ends, failure).await
                }
                Err(failure) if failure.is_retryable() => {
                    had_another_token = false;
                    let asked_for = failure.retry_after().unwrap_or_default();
                    pauses.next().map(|pause| pause + asked_for.min(LONGEST_RETRY_AFTER))
                }
                _ => None,
            };
            let pause = wanted.filter(|pause| Instant::now() + *pause < ends);
            let request_id = match &result {
                Ok(answer) => request_id(answer.headers()),
                Err(failure) => failure.request_id(),
            };
            (self.hook)(&Try { number, took, request_id, failure: result.as_ref().err(), pause });
            match pause {
                Some(pause) => sleep(pause).await,
                None => return result,
            }
        }
        Err(Failure::of_deadline(deadline))
    }

    /// Gets another token than the refused one, with which the request is sent at once. Otherwise
    /// the failure says why there is none. If the provider was asked since the request was sent,
    /// what it gave then is taken.
    async fn another_token(
        &self,
        used: &Current,
        ends: Instant,
        failure: &mut Failure,
    ) -> Option<Duration> {
        let mut current = timeout_at(ends, self.current.lock()).await.ok()?;
        if current.token == used.token && current.asked == used.asked {
            let answer = timeout_at(ends, provided(&self.options, &*self.provider)).await.ok()?;
            match answer {
                Ok((client, token)) => {
                    *current = Current { client, token, asked: used.asked, no_token: None };
                }
                Err(error) => current.no_token = Some(with_causes(&error)),
            }
            current.asked += 1;
        }
        if current.token == used.token {
            failure.add_no_token(current.no_token.clone());
            return None;
        }
        Some(Duration::ZERO)
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
    let answer = timeout(options.timeout, provider()).await.unwrap_or_else(|_| {
        Err(format!("the provider of the token took longer than {:?}", options.timeout).into())
    });
    let token = answer.map_err(InvalidClient::Provider)?;
    Ok((options.client(&token)?, token))
}

#[cfg(test)]
mod tests;
