//! Why an operation failed, and whether it may be retried.

use std::error::Error as StdError;
use std::fmt::{self, Debug, Display, Formatter};
use std::io;
use std::time::Duration;

use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Response, StatusCode};

use crate::causes::{Cause, NOT_HTTP, chain, escape_control, with_causes};
use crate::proxy;
use crate::{Error, ErrorCode, types};

/// How many characters of an unexpected body a message shows.
const EXCERPT: usize = 200;

/// The body of a response that is not in the contract, such as a proxy's. It is attached to the
/// response, because the generated client does not read it.
#[derive(Clone)]
pub(crate) struct UnexpectedBody(pub Vec<u8>);

/// Why an operation failed. `?` converts an error of the generated client into a `Failure`.
///
/// [`Display`] writes one line for people, with all causes.
#[derive(Clone)]
pub struct Failure {
    text: String,
    is_retryable: bool,
    status: Option<u16>,
    refusal: Option<types::Error>,
    retry_after: Option<Duration>,
    request_id: Option<String>,
}

impl Failure {
    /// Returns the value of `error`, if the service refused the request.
    #[must_use]
    pub fn code(&self) -> Option<ErrorCode> {
        self.refusal().map(|refusal| refusal.error.into())
    }

    /// Returns the `Error` body, if the service refused the request.
    #[must_use]
    pub fn refusal(&self) -> Option<&types::Error> {
        self.refusal.as_ref()
    }

    /// Returns the HTTP status, if there was a response: 400 if the service refused the request. A
    /// proxy may also send 400, and any other status came from a proxy.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.status
    }

    /// Returns whether sending the same plant again, unchanged, may succeed.
    ///
    /// It may succeed if there was no response, because the connection was lost or a timeout
    /// expired. After a refusal, [`ErrorCode::is_retryable`] decides by the value of `error`. After
    /// a proxy's response, it decides by the HTTP status, and 501 is never retryable.
    ///
    /// A bad URL, the wrong scheme and an untrusted certificate are not retryable either.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.is_retryable
    }

    /// Returns how long the service asks the client to wait before it sends the request again: the
    /// seconds of `Retry-After` (RFC 9110, section 10.2.3).
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// Returns the id of the request in the service's log, if there was a response.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.request_id.as_deref()
    }

    /// Returns whether the service refused the token.
    pub(crate) fn is_unauthorized(&self) -> bool {
        self.code() == Some(ErrorCode::Unauthorized)
    }

    /// Returns whether the service refused the request because the token is over its rate limit.
    pub(crate) fn is_rate_limited(&self) -> bool {
        self.code() == Some(ErrorCode::TooManyRequests)
    }

    pub(crate) fn from_error(error: &Error<types::Error>) -> Self {
        match error {
            Error::ErrorResponse(refusal) => {
                Self::from_refusal((**refusal).clone(), refusal.status(), refusal.headers())
            }
            Error::UnexpectedResponse(response) => Self::from_unexpected_response(response),
            Error::CommunicationError(error) => Self::from_reqwest(error),
            Error::ResponseBodyError(error) => {
                Self { is_retryable: true, ..Self::new(with_causes(error)) }
            }
            Error::InvalidResponsePayload(body, cause) => Self::new(format!(
                "the response did not come from a plant store ({cause}): {}",
                excerpt(body)
            )),
            error => Self::new(error.to_string()),
        }
    }

    /// The failure of a request that the service refused.
    pub(crate) fn from_refusal(
        refusal: types::Error,
        status: StatusCode,
        headers: &HeaderMap,
    ) -> Self {
        let code = ErrorCode::from(refusal.error);
        let text = format!("refused with {code}: {}", escape_control(&refusal.message));
        let failure = Self::new(text).with_head(status, headers);
        // The message of a 500 refers people to the request id.
        let id = failure.request_id().filter(|_| code == ErrorCode::InternalServerError);
        let id = id.map(|id| format!("; the request id is {}", escape_control(id)));
        Self {
            text: failure.text.clone() + &id.unwrap_or_default(),
            is_retryable: code.is_retryable(),
            refusal: Some(refusal),
            ..failure
        }
    }

    /// The failure of a request with a response that is not in the contract.
    pub(crate) fn from_unexpected_response(response: &Response) -> Self {
        let status = response.status();
        let code = ErrorCode::from(i32::from(status.as_u16()));
        let body = response.extensions().get();
        let body = body.map(|UnexpectedBody(body)| excerpt(body)).unwrap_or_default();
        let explanation = if status == StatusCode::NOT_FOUND {
            "so there is no operation at this URL (check whether the base URL should have no path)"
        } else {
            "which is not a response of a plant store"
        };
        let proxy = proxy::hint(response.url());
        let text = format!("{} answered {status}, {explanation}: {body}{proxy}", response.url());
        Self {
            is_retryable: code.is_retryable() && status != StatusCode::NOT_IMPLEMENTED,
            ..Self::new(text).with_head(status, response.headers())
        }
    }

    /// The failure of a request that got no response.
    pub(crate) fn from_reqwest(error: &reqwest::Error) -> Self {
        let is_final = |cause| is_tls_violation(cause) || cause.to_string() == NOT_HTTP;
        let is_retryable = !error.is_builder() && !chain(error).any(is_final);
        let proxy = error.url().map(proxy::hint).unwrap_or_default();
        Self { is_retryable, ..Self::new(with_causes(error) + &proxy) }
    }

    fn new(text: String) -> Self {
        Self {
            text,
            is_retryable: false,
            status: None,
            refusal: None,
            retry_after: None,
            request_id: None,
        }
    }

    fn with_head(self, status: StatusCode, headers: &HeaderMap) -> Self {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let seconds = text(RETRY_AFTER.as_str()).and_then(|seconds| seconds.parse().ok());
        Self {
            status: Some(status.as_u16()),
            retry_after: seconds.map(Duration::from_secs),
            request_id: text("x-request-id").map(str::to_owned),
            ..self
        }
    }
}

impl Display for Failure {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

/// Shows the same text as [`Display`]: a `main` that returns the failure prints it.
impl Debug for Failure {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Failure").field(&self.text).finish()
    }
}

/// The text already contains the causes, so there is no `source`.
impl StdError for Failure {}

impl From<Error<types::Error>> for Failure {
    fn from(error: Error<types::Error>) -> Self {
        Self::from_error(&error)
    }
}

/// The beginning of a body, as one line for people.
fn excerpt(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() {
        return "an empty body".to_owned();
    }
    let shown = line.chars().take(EXCERPT).collect::<String>();
    let cut = if shown.len() < line.len() { "…" } else { "" };
    escape_control(&shown) + cut
}

/// Returns whether the server violated TLS: an untrusted certificate, or no TLS at all. rustls
/// reports both as [`io::ErrorKind::InvalidData`]. A lost connection has another kind.
fn is_tls_violation(error: &Cause) -> bool {
    let Some(error) = error.downcast_ref::<io::Error>() else { return false };
    // The error inside an I/O error is not one of its sources.
    error.kind() == io::ErrorKind::InvalidData
        || error.get_ref().is_some_and(|inner| is_tls_violation(inner))
}

#[cfg(test)]
mod tests;
