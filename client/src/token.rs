//! A bearer token as a request has it, and the token of a client that repeats: taken from a function
//! of the user, and taken again if the service no longer accepts it.

use std::error::Error as StdError;
use std::pin::Pin;
use std::time::Duration;

use reqwest::Request;
use reqwest::header::{AUTHORIZATION, HeaderValue};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::causes::with_causes;
use crate::exchange::{Sent, send};
use crate::invalid_client::InvalidClient;

/// A token, or why there is none.
pub type Provided = Result<String, Box<dyn StdError + Send + Sync>>;

pub(crate) type Providing = Pin<Box<dyn Future<Output = Provided> + Send>>;

pub(crate) type Provider = dyn Fn() -> Providing + Send + Sync;

/// The token that all clones of a client share.
pub(crate) struct Tokens {
    provider: Box<Provider>,
    /// Of the provider.
    timeout: Duration,
    current: Mutex<Current>,
}

/// The last token.
#[derive(Clone)]
struct Current {
    authorization: HeaderValue,
    /// How often another token was asked for, and why the last time brought none.
    asked: u64,
    no_token: Option<String>,
}

impl Tokens {
    /// Asks the provider for the first token.
    pub(crate) async fn new(
        provider: Box<Provider>,
        timeout: Duration,
    ) -> Result<Self, InvalidClient> {
        let authorization = provided(&*provider, timeout).await?;
        let current = Mutex::new(Current { authorization, asked: 0, no_token: None });
        Ok(Self { provider, timeout, current })
    }

    /// Sends a request with the token, and once more if the service refuses the token and the
    /// provider has another one.
    pub(crate) async fn send(&self, http: &reqwest::Client, request: &Request) -> Sent {
        let used = self.current.lock().await.clone();
        let refused = match send(http, authorized(request, &used)).await {
            Err(unsuccessful) if unsuccessful.failure.is_unauthorized() => unsuccessful,
            done => return done,
        };
        let now = self.asked_again(&used).await;
        if now.authorization != used.authorization {
            return send(http, authorized(request, &now)).await;
        }
        match now.no_token {
            Some(why) => Err(Box::new(refused.because(&why))),
            None => Err(refused),
        }
    }

    /// Asks the provider, unless it was asked since the refused token was taken: requests that are
    /// refused at the same time ask it once.
    async fn asked_again(&self, refused: &Current) -> Current {
        let mut current = self.current.lock().await;
        if current.asked == refused.asked {
            match provided(&*self.provider, self.timeout).await {
                Ok(authorization) => {
                    current.authorization = authorization;
                    current.no_token = None;
                }
                Err(error) => current.no_token = Some(with_causes(&error)),
            }
            // Not before: if this request is dropped while it asks, the next one asks.
            current.asked += 1;
        }
        current.clone()
    }
}

fn authorized(request: &Request, current: &Current) -> Request {
    let mut request = request.try_clone().expect("the generated client has its bodies in memory");
    request.headers_mut().insert(AUTHORIZATION, current.authorization.clone());
    request
}

async fn provided(provider: &Provider, limit: Duration) -> Result<HeaderValue, InvalidClient> {
    let answer = timeout(limit, provider()).await.unwrap_or_else(|_| {
        Err(format!("the provider of the token took longer than {limit:?}").into())
    });
    authorization(&answer.map_err(InvalidClient::Provider)?)
}

/// The value of the header for a bearer token.
pub(crate) fn authorization(token: &str) -> Result<HeaderValue, InvalidClient> {
    let is_one_word = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    let value = HeaderValue::try_from(format!("Bearer {token}"));
    let mut value = value.ok().filter(|_| is_one_word).ok_or(InvalidClient::Token)?;
    value.set_sensitive(true);
    Ok(value)
}
