//! How a request is sent: with which token, and when it is sent again.
//!
//! Only the head of a response decides. A body is never read here.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use backon::{ExponentialBuilder, Retryable};
use progenitor_client::OperationInfo;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Request, Response, StatusCode};

use crate::failure::{is_final, is_temporary};

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

/// How a generated client sends a request: its inner type.
#[derive(Clone)]
pub struct SendPolicy {
    token: Arc<dyn Fn() -> String + Send + Sync>,
    /// The operations that are idempotent although their method is not.
    idempotent: &'static [&'static str],
    /// `None`: each request is sent once.
    pub(crate) retries: Option<ExponentialBuilder>,
}

impl SendPolicy {
    pub(crate) fn new(
        token: impl Fn() -> String + Send + Sync + 'static,
        idempotent: &'static [&'static str],
    ) -> Self {
        Self { token: Arc::new(token), idempotent, retries: None }
    }

    /// Sends a request, and sends it again as the policy allows.
    pub async fn send(
        &self,
        http: &reqwest::Client,
        request: Request,
        operation: &OperationInfo,
    ) -> reqwest::Result<Response> {
        let is_idempotent =
            request.method().is_idempotent() || self.idempotent.contains(&operation.operation_id);
        let attempt = || async {
            let mut request = request.try_clone().expect("generated clients have bodies in memory");
            // The service refuses a request without a token, as it refuses a token that is invalid.
            if let Some(bearer) = bearer(&(self.token)()) {
                request.headers_mut().insert(AUTHORIZATION, bearer);
            }
            let result = http.execute(request).await;
            if may_repeat(&result, is_idempotent) { Err(result) } else { Ok(result) }
        };
        let Some(retries) = self.retries else {
            return attempt().await.unwrap_or_else(|last| last);
        };
        let sent = attempt.retry(retries).adjust(|result, backoff| {
            let head = result.as_ref().ok().map(Response::headers);
            Some(pause(head.and_then(retry_after), backoff?))
        });
        sent.await.unwrap_or_else(|last| last)
    }
}

/// Shows no token.
impl Debug for SendPolicy {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SendPolicy").field("retries", &self.retries).finish_non_exhaustive()
    }
}

fn may_repeat(result: &reqwest::Result<Response>, is_idempotent: bool) -> bool {
    match result {
        Ok(response) => {
            let status = response.status();
            (retry_after(response.headers()).is_some() && is_failure(status))
                || (is_idempotent && is_temporary(status))
        }
        Err(error) => is_idempotent && !is_final(error),
    }
}

fn is_failure(status: StatusCode) -> bool {
    status.is_client_error() || status.is_server_error()
}

/// Returns how long the service asks the client to wait (RFC 9110, section 10.2.3).
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().unwrap_or_default();
    let seconds = text.parse().map(Duration::from_secs).ok();
    let until = || httpdate::parse_http_date(text).ok()?.duration_since(SystemTime::now()).ok();
    Some(seconds.or_else(until).unwrap_or_default())
}

/// Returns the pause before the next attempt: what the service asks for, and at most as much again,
/// so that not all clients return at the same moment. Nobody means that clients should return at
/// once, so a wait of zero, such as the rest of a date in the past, counts as no wish.
fn pause(retry_after: Option<Duration>, backoff: Duration) -> Duration {
    let wanted = retry_after.filter(|wanted| !wanted.is_zero());
    wanted.map_or(backoff, |wanted| wanted.saturating_add(backoff.min(wanted)))
}

/// Returns the `Authorization` header of a bearer token, if it is a token.
pub(crate) fn bearer(token: &str) -> Option<HeaderValue> {
    let is_one_word = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    let mut value =
        HeaderValue::try_from(format!("Bearer {token}")).ok().filter(|_| is_one_word)?;
    value.set_sensitive(true);
    Some(value)
}
