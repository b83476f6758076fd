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

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::causes::with_causes;
use crate::failure::request_id;
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

/// A client, and the token that it sends.
#[derive(Clone)]
struct Authorized {
    client: Client,
    token: String,
}

/// The client of the last token.
#[derive(Clone)]
struct Current {
    authorized: Authorized,
    /// How often another token was asked for, and why the last time brought none.
    asked: u64,
    no_token: Option<String>,
}

/// How far the repeats of an operation have come.
struct Repeats {
    /// When the operation must have ended.
    ends: Instant,
    pauses: ExponentialBackoff,
    /// Whether another token was asked for since the last failure that is retryable.
    had_another_token: bool,
}

/// What came of asking for another token.
enum Renewal {
    Renewed,
    /// The provider gave the same token, or nothing before the end of the operation.
    Same,
    /// The provider gave none: why.
    Failed(String),
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
        let authorized = provided(&options, &*provider).await?;
        let current = Arc::new(Mutex::new(Current { authorized, asked: 0, no_token: None }));
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
        let pauses = self.policy.build();
        let mut repeats = Repeats { ends, pauses, had_another_token: false };
        for number in 1.. {
            let Ok(used) = timeout_at(ends, self.current.lock()).await.map(|used| used.clone())
            else {
                break;
            };
            let started = Instant::now();
            let answer = timeout_at(ends, operation(used.authorized.client.clone())).await;
            let took = started.elapsed();
            let mut result = match answer {
                Ok(answer) => answer.map_err(Failure::from),
                Err(_) => Err(Failure::of_deadline(deadline)),
            };
            let pause = match &mut result {
                Ok(_) => None,
                Err(failure) => self.pause_after(failure, &used, &mut repeats).await,
            };
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

    /// How long to wait before the request is sent again, or `None` if this failure is the result.
    /// A failure for want of another token then says why there is none.
    async fn pause_after(
        &self,
        failure: &mut Failure,
        used: &Current,
        repeats: &mut Repeats,
    ) -> Option<Duration> {
        let pause = if failure.is_unauthorized() && !repeats.had_another_token {
            repeats.had_another_token = true;
            match self.renew_token(used, repeats.ends).await {
                Renewal::Renewed => Duration::ZERO,
                Renewal::Same => return None,
                Renewal::Failed(why) => {
                    failure.add_no_token(why);
                    return None;
                }
            }
        } else if failure.is_retryable() {
            repeats.had_another_token = false;
            let asked_for = failure.retry_after().unwrap_or_default();
            repeats.pauses.next()? + asked_for.min(LONGEST_RETRY_AFTER)
        } else {
            return None;
        };
        (Instant::now() + pause < repeats.ends).then_some(pause)
    }

    /// Gets another token than the refused one. If the provider was asked since the request was
    /// sent, what it gave then is taken.
    async fn renew_token(&self, used: &Current, ends: Instant) -> Renewal {
        let Ok(mut current) = timeout_at(ends, self.current.lock()).await else {
            return Renewal::Same;
        };
        let is_refused = current.authorized.token == used.authorized.token;
        if is_refused && current.asked == used.asked {
            let asking = provided(&self.options, &*self.provider);
            let Ok(answer) = timeout_at(ends, asking).await else { return Renewal::Same };
            match answer {
                Ok(authorized) => {
                    *current = Current { authorized, asked: used.asked, no_token: None };
                }
                Err(error) => current.no_token = Some(with_causes(&error)),
            }
            current.asked += 1;
        }
        if current.authorized.token != used.authorized.token {
            return Renewal::Renewed;
        }
        current.no_token.clone().map_or(Renewal::Same, Renewal::Failed)
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
) -> Result<Authorized, InvalidClient> {
    let answer = timeout(options.timeout, provider()).await.unwrap_or_else(|_| {
        Err(format!("the provider of the token took longer than {:?}", options.timeout).into())
    });
    let token = answer.map_err(InvalidClient::Provider)?;
    Ok(Authorized { client: options.client(&token)?, token })
}

#[cfg(test)]
mod tests;
