//! Why an operation failed, and whether it may be sent again.

use std::error::Error as StdError;
use std::fmt::{self, Debug, Display, Formatter};
use std::io;
use std::time::Duration;

use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Response, StatusCode};

use crate::causes::{Cause, NO_HTTP, chain, in_one_line, with_causes};
use crate::proxy;
use crate::{Error, ErrorCode, types};

/// How much of the body of a proxy is repeated in a message, in characters.
const SHOWN: usize = 200;

/// The body of an answer that no operation of the contract gives: of a proxy, or of another server.
/// It is kept beside the answer, because the generated client does not read it.
#[derive(Clone)]
pub(crate) struct Foreign(pub Vec<u8>);

/// Why an operation failed. `?` makes it of the error of the generated client.
///
/// Its text is one line for people, with all causes.
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
    /// The value of `error`, if the service refused the request.
    #[must_use]
    pub fn code(&self) -> Option<ErrorCode> {
        self.refusal().map(|refusal| refusal.error.into())
    }

    /// The `Error` body of a refusal, if the service refused the request.
    #[must_use]
    pub fn refusal(&self) -> Option<&types::Error> {
        self.refusal.as_ref()
    }

    /// The HTTP status, if an answer came: 400 for a refusal of the service, and another one also
    /// of a proxy.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.status
    }

    /// Whether sending the same plant again, as it is, may succeed.
    ///
    /// It may if no answer came: the connection was lost, or a time-out has passed. It may if
    /// [`ErrorCode::is_retryable`] says so of the `error` of a refusal, or of the HTTP status that
    /// a proxy on the way answered with, other than 501. Any other refusal would come again. So
    /// would a bad URL, a scheme that is not the server's, and a certificate that is not trusted.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.is_retryable
    }

    /// How long the service asks to wait before the request is sent again: the seconds of its
    /// `Retry-After` (RFC 9110, section 10.2.3).
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// The id under which the log of the service has the request, if an answer came.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.request_id.as_deref()
    }

    /// Whether the service refused the token.
    pub(crate) fn is_unauthorized(&self) -> bool {
        self.code() == Some(ErrorCode::Unauthorized)
    }

    /// Whether the service refused the request because the token is past its rate.
    pub(crate) fn is_past_rate(&self) -> bool {
        self.code() == Some(ErrorCode::TooManyRequests)
    }

    pub(crate) fn of(error: &Error<types::Error>) -> Self {
        match error {
            Error::ErrorResponse(refusal) => {
                Self::of_refusal((**refusal).clone(), refusal.status(), refusal.headers())
            }
            Error::UnexpectedResponse(response) => Self::of_foreign(response),
            Error::CommunicationError(error) => Self::of_connection(error),
            Error::ResponseBodyError(error) => {
                Self { is_retryable: true, ..Self::new(with_causes(error)) }
            }
            Error::InvalidResponsePayload(body, cause) => Self::new(format!(
                "the answer is not that of a plant store ({cause}): {}",
                in_short(body)
            )),
            error => Self::new(error.to_string()),
        }
    }

    /// The service refused the request.
    pub(crate) fn of_refusal(
        refusal: types::Error,
        status: StatusCode,
        headers: &HeaderMap,
    ) -> Self {
        let code = ErrorCode::from(refusal.error);
        let text = format!("refused with {code}: {}", in_one_line(&refusal.message));
        let failure = Self::new(text).with_head(status, headers);
        // The message tells people to ask the operator with the id.
        let id = failure.request_id().filter(|_| code == ErrorCode::InternalServerError);
        let id = id.map(|id| format!("; the request id is {}", in_one_line(id)));
        Self {
            text: failure.text.clone() + &id.unwrap_or_default(),
            is_retryable: code.is_retryable(),
            refusal: Some(refusal),
            ..failure
        }
    }

    /// No operation of the contract gives this answer.
    pub(crate) fn of_foreign(answer: &Response) -> Self {
        let status = answer.status();
        let code = ErrorCode::from(i32::from(status.as_u16()));
        let body = answer.extensions().get::<Foreign>().map(|Foreign(body)| in_short(body));
        let what = if status == StatusCode::NOT_FOUND {
            "so no operation is there (see whether the base URL has a path too many)"
        } else {
            "which an operation of a plant store does not"
        };
        let body = body.unwrap_or_default();
        let proxy = proxy::named(answer.url());
        let text = format!("{} answered {status}, {what}: {body}{proxy}", answer.url());
        Self {
            is_retryable: code.is_retryable() && status != StatusCode::NOT_IMPLEMENTED,
            ..Self::new(text).with_head(status, answer.headers())
        }
    }

    /// No answer came.
    pub(crate) fn of_connection(error: &reqwest::Error) -> Self {
        let is_final = |cause| breaks_tls(cause) || cause.to_string() == NO_HTTP;
        let is_retryable = !error.is_builder() && !chain(error).any(is_final);
        let proxy = error.url().map(proxy::named).unwrap_or_default();
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

/// The text: it is what a `main` prints that returns the failure.
impl Debug for Failure {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Failure").field(&self.text).finish()
    }
}

/// Its text holds the causes already, so it has no `source`.
impl StdError for Failure {}

impl From<Error<types::Error>> for Failure {
    fn from(error: Error<types::Error>) -> Self {
        Self::of(&error)
    }
}

/// The beginning of a body in one line, for people.
fn in_short(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() {
        return "an empty body".to_owned();
    }
    let shown = line.chars().take(SHOWN).collect::<String>();
    let cut = if shown.len() < line.len() { "…" } else { "" };
    in_one_line(&shown) + cut
}

/// Whether the server broke the rules of TLS: a certificate that is not trusted, or no TLS at all.
/// rustls reports it as [`io::ErrorKind::InvalidData`]; a connection that breaks has other kinds.
fn breaks_tls(error: &Cause) -> bool {
    let Some(error) = error.downcast_ref::<io::Error>() else { return false };
    // What an I/O error holds is not among its sources.
    error.kind() == io::ErrorKind::InvalidData
        || error.get_ref().is_some_and(|held| breaks_tls(held))
}

#[cfg(test)]
mod tests;
