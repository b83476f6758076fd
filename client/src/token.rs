//! Bearer tokens: the header value of a token, and the token that the clones of a retrying client
//! share. That token comes from a function of the user, which is called again if the service no
//! longer accepts the token. No token may reach an error or `Debug` output.

use std::error::Error as StdError;
use std::pin::Pin;
use std::time::Duration;

use reqwest::Request;
use reqwest::header::{AUTHORIZATION, HeaderValue};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::causes::with_causes;
use crate::exchange::{SendResult, send};
use crate::invalid_client::InvalidClient;

/// What a token provider returns: a token, or why there is none.
pub type TokenResult = Result<String, Box<dyn StdError + Send + Sync>>;

pub(crate) type TokenFuture = Pin<Box<dyn Future<Output = TokenResult> + Send>>;

pub(crate) type TokenProvider = dyn Fn() -> TokenFuture + Send + Sync;

/// The token that all clones of a client share.
pub(crate) struct SharedToken {
    provider: Box<TokenProvider>,
    /// How long a call of the provider may take.
    timeout: Duration,
    current: Mutex<CurrentToken>,
}

/// The last token that the provider returned.
#[derive(Clone)]
struct CurrentToken {
    authorization: HeaderValue,
    /// How often the provider was asked for another token.
    renewals: u64,
    /// Why the last renewal failed, if it did.
    renewal_error: Option<String>,
}

impl SharedToken {
    /// Asks the provider for the first token.
    pub(crate) async fn new(
        provider: Box<TokenProvider>,
        timeout: Duration,
    ) -> Result<Self, InvalidClient> {
        let authorization = ask(&*provider, timeout).await?;
        let current = CurrentToken { authorization, renewals: 0, renewal_error: None };
        Ok(Self { provider, timeout, current: Mutex::new(current) })
    }

    /// Sends a request with the token. Sends it once more if the service refuses the token and the
    /// provider returns a different one.
    pub(crate) async fn send(&self, http: &reqwest::Client, request: &Request) -> SendResult {
        let used = self.current.lock().await.clone();
        let refusal = match send(http, authorized(request, &used)).await {
            Err(error) if error.failure.is_unauthorized() => error,
            result => return result,
        };
        let renewed = self.renew(&used).await;
        if renewed.authorization != used.authorization {
            return send(http, authorized(request, &renewed)).await;
        }
        match renewed.renewal_error {
            Some(reason) => Err(Box::new(refusal.because(&reason))),
            None => Err(refusal),
        }
    }

    /// Asks the provider for another token, unless it was asked since `refused` was read: requests
    /// that are refused at the same time share one call.
    async fn renew(&self, refused: &CurrentToken) -> CurrentToken {
        let mut current = self.current.lock().await;
        if current.renewals == refused.renewals {
            match ask(&*self.provider, self.timeout).await {
                Ok(authorization) => {
                    current.authorization = authorization;
                    current.renewal_error = None;
                }
                Err(error) => current.renewal_error = Some(with_causes(&error)),
            }
            // Not before the call: if this request is dropped during the call, the next one asks.
            current.renewals += 1;
        }
        current.clone()
    }
}

fn authorized(request: &Request, token: &CurrentToken) -> Request {
    let mut request = request.try_clone().expect("the generated client has its bodies in memory");
    request.headers_mut().insert(AUTHORIZATION, token.authorization.clone());
    request
}

/// Asks the provider for a token, within a time limit.
async fn ask(provider: &TokenProvider, limit: Duration) -> Result<HeaderValue, InvalidClient> {
    let result = timeout(limit, provider())
        .await
        .unwrap_or_else(|_| Err(format!("the token provider took longer than {limit:?}").into()));
    authorization(&result.map_err(InvalidClient::Provider)?)
}

/// Returns the `Authorization` header value for a bearer token.
pub(crate) fn authorization(token: &str) -> Result<HeaderValue, InvalidClient> {
    let is_one_word = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    let value = HeaderValue::try_from(format!("Bearer {token}"));
    let mut value = value.ok().filter(|_| is_one_word).ok_or(InvalidClient::Token)?;
    value.set_sensitive(true);
    Ok(value)
}
