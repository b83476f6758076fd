//! What may be sent again, and a client that does so.
//!
//! A create is safe to repeat, also if the first attempt has stored the plant: the id is the
//! client's, and the service answers the same plant under the same id with 200 again. So a client
//! that lost an answer can neither lose nor double a plant by sending it again.

use std::error::Error as StdError;
use std::io;
use std::pin::Pin;
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use reqwest::header::RETRY_AFTER;
use tokio::sync::Mutex;

use crate::options::{Cause, chain};
use crate::{Client, ClientOptions, Error, InvalidClient, ResponseValue, types};

/// The values of `error` after which the same plant may be accepted later.
const MAY_PASS: [i32; 4] = [408, 429, 500, 503];

/// The longest `Retry-After` that is waited for.
const LONGEST_RETRY_AFTER: Duration = Duration::from_mins(1);

/// The `Error` body of a 400, if the service refused the request.
#[must_use]
pub fn refusal(error: &Error<types::Error>) -> Option<&types::Error> {
    let Error::ErrorResponse(response) = error else { return None };
    Some(response)
}

/// What went wrong, with its causes, in one line for people.
#[must_use]
pub fn explained(error: &Error<types::Error>) -> String {
    match error {
        Error::ErrorResponse(body) => format!("refused with {}: {}", body.error, body.message),
        Error::UnexpectedResponse(response) => format!(
            "{} answered {}, which a plant store does not: see whether the base URL is right",
            response.url(),
            response.status()
        ),
        Error::CommunicationError(error) | Error::ResponseBodyError(error) => {
            let causes = chain(error).map(ToString::to_string).collect::<Vec<_>>().join(": ");
            // The first byte of every TLS record is its content type (RFC 8446, section 5.1).
            let advice = match causes.ends_with("InvalidContentType") {
                true => ": the server does not speak TLS there; see whether its URL is http",
                false => "",
            };
            causes + advice
        }
        error => error.to_string(),
    }
}

/// Whether sending the same plant again, as it is, may succeed.
///
/// It may if no answer came (the connection was lost, or a time-out has passed), if `error` is 408,
/// 429, 500 or 503 or an unknown 5xx (RFC 9110, section 15), and if a proxy on the way answered with a 5xx. Any other refusal would come again. So
/// would a bad URL, a scheme that is not supported, and a certificate that is not trusted.
#[must_use]
pub fn may_repeat(error: &Error<types::Error>) -> bool {
    match error {
        Error::ErrorResponse(refusal) => {
            MAY_PASS.contains(&refusal.error) || refusal.error / 100 == 5
        }
        Error::UnexpectedResponse(response) => response.status().is_server_error(),
        Error::CommunicationError(error) => !error.is_builder() && !chain(error).any(breaks_tls),
        Error::ResponseBodyError(_) => true,
        _ => false,
    }
}

/// Whether the server broke the rules of TLS: a certificate that is not trusted, or no TLS at all.
/// rustls reports it as [`io::ErrorKind::InvalidData`]; a connection that breaks has other kinds.
fn breaks_tls(error: &Cause) -> bool {
    let Some(error) = error.downcast_ref::<io::Error>() else { return false };
    // What an I/O error holds is not among its sources.
    error.kind() == io::ErrorKind::InvalidData
        || error.get_ref().is_some_and(|held| breaks_tls(held))
}

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

/// What an operation answers.
pub type Answer<T> = Result<ResponseValue<T>, Error<types::Error>>;

/// A token, or why there is none.
pub type Provided = Result<String, Box<dyn StdError + Send + Sync>>;

type Providing = Pin<Box<dyn Future<Output = Provided> + Send>>;

/// A client that repeats what may pass ([`may_repeat`]), and that gets a new token if the service
/// accepts the old one no longer.
pub struct RetryingClient {
    options: ClientOptions,
    policy: ExponentialBuilder,
    provider: Box<dyn Fn() -> Providing + Send + Sync>,
    /// The client, and the token that it sends.
    client: Mutex<(Client, String)>,
}

impl RetryingClient {
    /// A client that takes its token from `provider`: at once, and again after each refusal with
    /// `error` 401. If it then gives another token, the request is sent once more with that one.
    /// Requests that are refused at the same time ask it once.
    pub async fn new<F, Fut>(options: ClientOptions, provider: F) -> Result<Self, InvalidClient>
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Provided> + Send + 'static,
    {
        let token = provider().await.map_err(InvalidClient::Provider)?;
        let client = Mutex::new((options.client(&token)?, token));
        let provider = Box::new(move || -> Providing { Box::pin(provider()) });
        Ok(Self { options, policy: retry_policy(), provider, client })
    }

    /// Repeats by this policy instead of [`retry_policy`].
    #[must_use]
    pub fn with_policy(self, policy: ExponentialBuilder) -> Self {
        Self { policy, ..self }
    }

    /// Creates a plant, and repeats it by the policy. Returns the last error when the policy ends.
    pub async fn create_plant(&self, plant: &types::NewPlant) -> Answer<types::Plant> {
        let send =
            |client: Client| async move { client.create_plant().body(plant.clone()).send().await };
        self.repeat(send).await
    }

    /// Repeats an operation by the policy. It must be safe to repeat, as a create is. A pause is at
    /// least as long as a `Retry-After` of up to a minute says.
    pub async fn repeat<T, Fut>(&self, operation: impl Fn(Client) -> Fut) -> Answer<T>
    where
        Fut: Future<Output = Answer<T>>,
    {
        let attempt = || async {
            let (client, token) = self.client.lock().await.clone();
            match operation(client).await {
                Err(error) if refusal(&error).is_some_and(|refusal| refusal.error == 401) => {
                    match self.with_another_token(&token).await {
                        Some(client) => operation(client).await,
                        None => Err(error),
                    }
                }
                answer => answer,
            }
        };
        attempt
            .retry(self.policy)
            .when(may_repeat)
            .adjust(|error, pause| Some(pause? + retry_after(error).min(LONGEST_RETRY_AFTER)))
            .await
    }

    /// A client with another token than the refused one, if the provider has another.
    async fn with_another_token(&self, refused: &str) -> Option<Client> {
        let mut current = self.client.lock().await;
        // Another request may have been refused before, and have got another one.
        if current.1 == refused {
            let token = (self.provider)().await.ok().filter(|token| token != refused)?;
            *current = (self.options.client(&token).ok()?, token);
        }
        Some(current.0.clone())
    }
}

/// The seconds of a `Retry-After` (RFC 9110, section 10.2.3), else no time.
fn retry_after(error: &Error<types::Error>) -> Duration {
    let headers = match error {
        Error::ErrorResponse(response) => response.headers(),
        Error::UnexpectedResponse(response) => response.headers(),
        _ => return Duration::ZERO,
    };
    let seconds = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    Duration::from_secs(seconds.unwrap_or_default())
}

#[cfg(test)]
mod tests;
