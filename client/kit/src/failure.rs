//! Why a request failed, and whether it may be sent again.

use std::error::Error as StdError;
use std::io;
use std::time::Duration;

use progenitor_client::Error;
use reqwest::header::{HeaderMap, LOCATION};
use reqwest::{StatusCode, Url};

use crate::Refusal;
use crate::retries::retry_after;

/// How many characters of a body that is not in the contract a message shows.
const EXCERPT: usize = 200;

/// Why a request failed. `?` converts an error of a generated client into a `Failure`. It prints as
/// one line for people, with all causes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The service refused the request.
    #[error(
        "refused with {}: {}{}",
        code.as_u16(),
        escape_control(.message),
        request_id_note(*.code, .request_id.as_deref())
    )]
    Refused {
        /// The value of `error`: the HTTP status code that names the failure, also if the service
        /// sends another status with it. A code that you do not know means the same as the x00 code
        /// of its class (RFC 9110, section 15).
        code: StatusCode,
        /// Explains what happened and what to do about it.
        message: String,
        /// How long to wait before the same request is sent again, if it may be sent again.
        retry_after: Option<Duration>,
        /// Identifies the request in the log of the service.
        request_id: Option<String>,
    },
    /// There was no response, or it was cut off. The service may have received the request.
    #[error("{}", with_causes(.0))]
    NoResponse(reqwest::Error),
    /// The response is not in the contract: a proxy sent it, or something else than the service.
    #[error(
        "{url} answered {status}{}",
        unexpected(*.status, .location.as_deref())
    )]
    Unexpected {
        /// The HTTP status.
        status: StatusCode,
        /// The URL of the request.
        url: Url,
        /// Where a redirect leads. The client does not follow it.
        location: Option<String>,
        /// How long to wait before the same request is sent again, if the response says so.
        retry_after: Option<Duration>,
    },
    /// The request or the body of the response does not match the contract. If the document
    /// declares `4XX` and `5XX`, an error page of a proxy is such a response.
    #[error("{0}")]
    Invalid(String),
}

impl Failure {
    /// Returns the value of `error`, if the service refused the request.
    #[must_use]
    pub fn code(&self) -> Option<StatusCode> {
        match self {
            Self::Refused { code, .. } => Some(*code),
            _ => None,
        }
    }

    /// Returns whether sending the same request again, unchanged, may succeed. After
    /// [`NoResponse`](Self::NoResponse), and after [`Unexpected`](Self::Unexpected) without
    /// `retry_after`, send it again only if the operation is idempotent.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Refused { retry_after, .. } => retry_after.is_some(),
            Self::NoResponse(error) => !is_final(error),
            Self::Unexpected { status, retry_after, .. } => {
                retry_after.is_some() || is_temporary(*status)
            }
            Self::Invalid(_) => false,
        }
    }
}

impl From<Error<Refusal>> for Failure {
    fn from(error: Error<Refusal>) -> Self {
        match error {
            Error::ErrorResponse(refusal) => Self::Refused {
                code: code_of(&refusal).unwrap_or(refusal.status()),
                message: refusal.message.clone(),
                retry_after: retry_after(refusal.headers()),
                request_id: text(refusal.headers(), "x-request-id"),
            },
            Error::UnexpectedResponse(response) => Self::Unexpected {
                status: response.status(),
                url: response.url().clone(),
                location: text(response.headers(), LOCATION.as_str()),
                retry_after: retry_after(response.headers())
                    .filter(|_| !response.status().is_redirection()),
            },
            Error::CommunicationError(error) | Error::ResponseBodyError(error) => {
                Self::NoResponse(error)
            }
            Error::InvalidResponsePayload(body, cause) => Self::Invalid(format!(
                "the response did not come from the service ({cause}): {}",
                excerpt(&String::from_utf8_lossy(&body))
            )),
            error => Self::Invalid(escape_control(&error.to_string())),
        }
    }
}

fn code_of(refusal: &Refusal) -> Option<StatusCode> {
    StatusCode::from_u16(refusal.error.try_into().ok()?).ok()
}

/// Returns whether a status that the contract does not have may pass.
pub(crate) fn is_temporary(status: StatusCode) -> bool {
    [408, 429, 500, 502, 503, 504].contains(&status.as_u16())
}

/// Returns whether the same request would fail again, although there was no response.
pub(crate) fn is_final(error: &reqwest::Error) -> bool {
    // If the body of a response is cut off, its head is lost too, which says whether the request
    // may be sent again.
    let is_cut_off = error.is_body() || error.is_decode();
    error.is_builder()
        || is_cut_off
        || chain(error).any(|cause| is_final_io(cause) || is_not_http(cause))
}

/// Returns whether the server violated TLS, which rustls reports as invalid data, or closed the
/// connection while it was sent a body, which it does if it refuses a large body.
fn is_final_io(cause: &(dyn StdError + 'static)) -> bool {
    let Some(error) = cause.downcast_ref::<io::Error>() else { return false };
    matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::BrokenPipe)
        // The error inside an I/O error is not one of its sources.
        || error.get_ref().is_some_and(|inner| is_final_io(inner))
}

fn is_not_http(cause: &(dyn StdError + 'static)) -> bool {
    cause.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_parse)
}

/// Iterates over an error and its sources.
fn chain(error: &reqwest::Error) -> impl Iterator<Item = &(dyn StdError + 'static)> {
    let first: &(dyn StdError + 'static) = error;
    std::iter::successors(Some(first), |error| (*error).source())
}

/// Formats an error and its causes as one line, with advice where it helps most.
fn with_causes(error: &reqwest::Error) -> String {
    let causes = chain(error).map(ToString::to_string).collect::<Vec<_>>().join(": ");
    // The first byte of a TLS record is its content type (RFC 8446, section 5.1).
    let advice = if causes.contains("InvalidContentType") {
        "; the server does not speak TLS on this port: should the URL begin with http://?"
    } else if chain(error).any(is_not_http) {
        "; the server does not speak plain HTTP on this port: should the URL begin with https://?"
    } else {
        ""
    };
    escape_control(&causes) + advice
}

fn unexpected(status: StatusCode, location: Option<&str>) -> String {
    match location {
        Some(location) => format!(
            ", a redirect to {}, which is not followed: correct the base URL",
            escape_control(location)
        ),
        None if status == StatusCode::NOT_FOUND => {
            ": there is no operation at this URL, so correct the base URL".to_owned()
        }
        None => ", which is not a response of the service".to_owned(),
    }
}

/// The message of a 500 refers people to the request id.
fn request_id_note(code: StatusCode, id: Option<&str>) -> String {
    let id = id.filter(|_| code == StatusCode::INTERNAL_SERVER_ERROR);
    id.map(|id| format!("; the request id is {}", escape_control(id))).unwrap_or_default()
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

/// Returns the beginning of a body as one line.
fn excerpt(body: &str) -> String {
    let line = body.split_whitespace().collect::<Vec<_>>().join(" ");
    escape_control(&line.chars().take(EXCERPT).collect::<String>())
}

/// Escapes control characters, because a terminal would obey them.
#[must_use]
pub fn escape_control(text: &str) -> String {
    let escaped = |one: char| {
        if one.is_control() { one.escape_default().to_string() } else { one.to_string() }
    };
    text.chars().map(escaped).collect()
}
