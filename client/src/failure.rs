//! Why an operation failed, and whether it may be sent again.

use std::error::Error as StdError;
use std::fmt::{self, Debug, Display, Formatter};
use std::io;
use std::time::Duration;

use reqwest::header::{HeaderMap, RETRY_AFTER};

use crate::causes::{Cause, NO_HTTP, chain, in_one_line, with_causes};
use crate::{Error, ErrorCode, types};

/// Why an operation failed: the error of the generated client, from which `?` makes it.
///
/// Its text is one line for people, with all causes.
pub struct Failure {
    error: Error<types::Error>,
    /// Why there is no other token, if the service refused the one that it got.
    no_token: Option<String>,
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
        let Error::ErrorResponse(response) = &self.error else { return None };
        Some(response)
    }

    /// Whether sending the same plant again, as it is, may succeed.
    ///
    /// It may if no answer came: the connection was lost, or a time-out has passed. It may if
    /// [`ErrorCode::is_retryable`] says so of the `error` of a refusal, or of the HTTP status that
    /// a proxy on the way answered with. Any other refusal would come again. So would a bad URL, a
    /// scheme that is not the server's, and a certificate that is not trusted.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        if let Some(code) = error_code(&self.error) {
            return code.is_retryable();
        }
        match &self.error {
            Error::CommunicationError(error) => {
                let is_final = |cause| breaks_tls(cause) || cause.to_string() == NO_HTTP;
                !error.is_builder() && !chain(error).any(is_final)
            }
            // A custom one is a deadline that has passed.
            Error::ResponseBodyError(_) | Error::Custom(_) => true,
            _ => false,
        }
    }

    /// How long the service asks to wait before the request is sent again: the seconds of its
    /// `Retry-After` (RFC 9110, section 10.2.3).
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        retry_after(&self.error)
    }

    /// The id under which the log of the service has the request, if an answer came.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        request_id(headers(&self.error)?)
    }

    /// The error of the generated client, with the whole answer if one came.
    #[must_use]
    pub fn error(&self) -> &Error<types::Error> {
        &self.error
    }

    /// Whether the service refused the token.
    pub(crate) fn is_unauthorized(&self) -> bool {
        self.code() == Some(ErrorCode::Unauthorized)
    }

    /// The last cause alone.
    #[cfg(feature = "cli")]
    pub(crate) fn root_cause(&self) -> String {
        let error: &Cause = &self.error;
        match error.source() {
            Some(_) => chain(error).last().map(ToString::to_string).unwrap_or_default(),
            None => self.to_string(),
        }
    }

    /// No answer came before the deadline of all tries.
    pub(crate) fn of_deadline(deadline: Duration) -> Self {
        Error::Custom(format!("no answer within the deadline of {deadline:?}")).into()
    }

    /// Says of a refused token why there is no other one.
    pub(crate) fn add_no_token(&mut self, why: String) {
        self.no_token = Some(why);
    }
}

/// What went wrong: the `error` of a refusal, or the HTTP status of a proxy, which means the same.
pub(crate) fn error_code(error: &Error<types::Error>) -> Option<ErrorCode> {
    match error {
        Error::ErrorResponse(refusal) => Some(refusal.error.into()),
        Error::UnexpectedResponse(response) => Some(i32::from(response.status().as_u16()).into()),
        _ => None,
    }
}

/// The seconds of the `Retry-After` of an answer.
pub(crate) fn retry_after(error: &Error<types::Error>) -> Option<Duration> {
    let seconds = headers(error)?.get(RETRY_AFTER)?.to_str().ok()?;
    seconds.parse().ok().map(Duration::from_secs)
}

fn headers(error: &Error<types::Error>) -> Option<&HeaderMap> {
    match error {
        Error::ErrorResponse(response) => Some(response.headers()),
        Error::UnexpectedResponse(response) => Some(response.headers()),
        _ => None,
    }
}

impl Display for Failure {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(&explained(&self.error))?;
        // The message tells people to ask the operator with the id.
        let is_fault = self.code() == Some(ErrorCode::InternalServerError);
        if let Some(id) = self.request_id().filter(|_| is_fault) {
            write!(formatter, "; the request id is {}", in_one_line(id))?;
        }
        match &self.no_token {
            Some(why) => write!(formatter, "; {why}"),
            None => Ok(()),
        }
    }
}

/// The text: it is what a `main` prints that returns the failure.
impl Debug for Failure {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Failure").field(&self.to_string()).finish()
    }
}

/// Its text holds the causes already, so it has no `source`.
impl StdError for Failure {}

impl From<Error<types::Error>> for Failure {
    fn from(error: Error<types::Error>) -> Self {
        Self { error, no_token: None }
    }
}

/// What went wrong, with its causes, in one line for people.
pub(crate) fn explained(error: &Error<types::Error>) -> String {
    match error {
        Error::ErrorResponse(body) => {
            format!("refused with {}: {}", body.error, in_one_line(&body.message))
        }
        Error::InvalidResponsePayload(_, cause) => format!(
            "an answer that a plant store does not give ({cause}): see whether the base URL is \
             right"
        ),
        Error::UnexpectedResponse(response) => format!(
            "{} answered {}, which a plant store does not: see whether the base URL is right",
            response.url(),
            response.status()
        ),
        Error::CommunicationError(error) | Error::ResponseBodyError(error) => with_causes(error),
        Error::Custom(deadline) => deadline.clone(),
        error => error.to_string(),
    }
}

/// The id that the service gives to each request.
pub(crate) fn request_id(headers: &HeaderMap) -> Option<&str> {
    headers.get("x-request-id")?.to_str().ok()
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
