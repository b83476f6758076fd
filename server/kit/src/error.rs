//! Errors: the schema of an error response, the table of the values of its `error` member, and the
//! refusal of a request.
//!
//! The table is written once, here and in [`Service::errors`](crate::Service). The document, the
//! metrics, the `Retry-After` header and every refusal use it, and the tables in clients and pages
//! are generated from the document.

use std::borrow::Cow;
use std::fmt;

use dropshot::{ErrorStatusCode, HttpError, HttpResponseError};
use groundwork_store as store;
use http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;

/// The reason why a request was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Error {
    /// The HTTP status code (RFC 9110) that names the failure.
    pub error: i32,
    /// Human-readable explanation of what happened and what to do about it. The wording may change.
    pub message: String,
}

/// A row of the table of errors. The texts are part of the published document. In a text,
/// `{resource}` and `{resources}` stand for the resource of the service and its plural, and
/// `{program}` for its program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorRow {
    /// The value of `error`: the HTTP status code that names the failure (RFC 9110, section 15).
    /// Clients tell refusals apart by this value, whichever [`RefusalStatus`] the service has.
    pub error: u16,
    /// Whether the same request may be sent again. If so, the response has a `Retry-After` header.
    pub retryable: bool,
    /// The failure that the value names.
    pub meaning: &'static str,
    /// A `message` that the service sends with the value.
    pub example: &'static str,
}

/// The rows that every service has. The example of 400 is the service's own.
pub(crate) const ROWS: &[ErrorRow] = &[
    ErrorRow {
        error: 400,
        retryable: false,
        meaning: "the request or its body does not match the contract",
        example: "",
    },
    ErrorRow {
        error: 401,
        retryable: false,
        meaning: "no valid bearer token",
        example: "the bearer token is unknown, expired or revoked: ask the operator for a new one",
    },
    ErrorRow {
        error: 408,
        retryable: true,
        meaning: "the body did not arrive in time",
        example: "the body did not arrive within 10s",
    },
    ErrorRow {
        error: 409,
        retryable: false,
        meaning: "the id belongs to a different {resource}",
        example: "{resource} 1 already exists and is different: choose another id",
    },
    ErrorRow {
        error: 413,
        retryable: false,
        meaning: "the body is too large",
        example: "the body is larger than 65536 bytes",
    },
    ErrorRow {
        error: 415,
        retryable: false,
        meaning: "the body is not plain application/json",
        example: "the body must be sent as `Content-Type: application/json`",
    },
    ErrorRow {
        error: 429,
        retryable: true,
        meaning: "a proxy in front of the service limits the rate of requests",
        example: "too many requests: send the same request again in a moment",
    },
    ErrorRow {
        error: 500,
        retryable: true,
        meaning: "the service failed",
        example: "the service failed: the operator can find the cause in the log by the request id",
    },
    ErrorRow {
        error: 503,
        retryable: true,
        meaning: "the service cannot accept the request right now",
        example: "the service is at its limit: send the same request again in a moment",
    },
];

/// A value of `error`. It can only be taken from a table, so that the document contains every value
/// that a service answers: the constants below, and
/// [`Service::error`](crate::Service::error).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorCode(&'static ErrorRow);

impl ErrorCode {
    /// The request or its body does not match the contract.
    pub const BAD_REQUEST: Self = Self::find(ROWS, 400);
    /// No valid bearer token.
    pub const UNAUTHORIZED: Self = Self::find(ROWS, 401);
    /// The body did not arrive in time.
    pub const REQUEST_TIMEOUT: Self = Self::find(ROWS, 408);
    /// The id belongs to a different resource.
    pub const CONFLICT: Self = Self::find(ROWS, 409);
    /// The body is too large.
    pub const CONTENT_TOO_LARGE: Self = Self::find(ROWS, 413);
    /// The body is not plain `application/json`.
    pub const UNSUPPORTED_MEDIA_TYPE: Self = Self::find(ROWS, 415);
    /// The service failed.
    pub const INTERNAL_SERVER_ERROR: Self = Self::find(ROWS, 500);
    /// The service cannot accept the request right now.
    pub const SERVICE_UNAVAILABLE: Self = Self::find(ROWS, 503);

    /// Finds the row of a value.
    ///
    /// # Panics
    ///
    /// Panics if there is no such row, or the value is no status code of an error. In a constant,
    /// this is a compile error.
    pub(crate) const fn find(rows: &'static [ErrorRow], error: u16) -> Self {
        assert!(matches!(error, 400..=599), "a value of `error` is a status code from 400 to 599");
        let mut index = 0;
        while index < rows.len() {
            if rows[index].error == error {
                return Self(&rows[index]);
            }
            index += 1;
        }
        panic!(
            "`errors` has no row with this value: the common values are constants of `ErrorCode`"
        )
    }

    /// Returns the value of `error`.
    #[must_use]
    pub const fn number(self) -> u16 {
        self.0.error
    }

    /// Returns the seconds in the `Retry-After` header (RFC 9110, section 10.2.3), after which the
    /// same request may be sent again. A fault or an overload passes as quickly as commits
    /// complete, and the header can only express whole seconds.
    #[must_use]
    pub fn retry_after(self) -> Option<u16> {
        self.0.retryable.then_some(1)
    }
}

/// The status of the response to a refused request. Its body is an [`Error`] in either case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalStatus {
    /// The status is the value of `error`: 401, 404, 409 and so on. The document declares `4XX` and
    /// `5XX`.
    SameAsError,
    /// The status is 400 for every value of `error`. The document declares no other.
    Always400,
}

impl RefusalStatus {
    /// Returns the status of a refusal with this value of `error`.
    pub(crate) fn of(self, code: ErrorCode) -> StatusCode {
        match self {
            Self::SameAsError => StatusCode::from_u16(code.number()).expect("a status code"),
            Self::Always400 => StatusCode::BAD_REQUEST,
        }
    }
}

/// The reason for refusing a request: what the client learns, and what the log says.
#[derive(Debug)]
pub struct Refusal {
    pub(crate) code: ErrorCode,
    pub(crate) message: Cow<'static, str>,
    pub(crate) cause: Option<Cow<'static, str>>,
    /// Whether the request contained no token. Then the challenge has no `error` attribute (RFC
    /// 6750, section 3.1).
    pub(crate) lacks_token: bool,
}

impl Refusal {
    /// Creates a refusal. The message is for the client, and must not contain internal details.
    pub fn new(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into(), cause: None, lacks_token: false }
    }

    /// Adds what the log says, if the code alone does not tell it: the cause of a fault, or the
    /// place in the body that was refused, in case its sender asks. It must never repeat a value of
    /// the body or of a row.
    #[must_use]
    pub fn because(self, cause: impl Into<Cow<'static, str>>) -> Self {
        Self { cause: Some(cause.into()), ..self }
    }

    /// Creates a refusal with the message that the document shows as the example of the code.
    pub(crate) fn of(code: ErrorCode) -> Self {
        Self::new(code, code.0.example)
    }

    /// Creates the refusal of a request whose store does not work now: it cannot be reached, does
    /// not answer in time, or its disk is full. A row of the request may be stored or not. Sending
    /// the same request again tells.
    pub(crate) fn store_unavailable(cause: String) -> Self {
        let message = "the store is unavailable: send the same request again in a moment";
        Self::new(ErrorCode::SERVICE_UNAVAILABLE, message).because(cause)
    }

    /// Creates the refusal of a request that failed.
    pub(crate) fn fault(cause: String) -> Self {
        Self::of(ErrorCode::INTERNAL_SERVER_ERROR).because(cause)
    }

    /// Creates the refusal of a request whose row could not be committed or read. `program` has the
    /// command `check`, which tells whether the store is damaged.
    pub(crate) fn of_store(program: &str, cause: &store::Error) -> Self {
        if cause.may_pass() {
            Self::store_unavailable(cause.to_string())
        } else if cause.is_final() {
            Self::fault(cause.to_string())
        } else {
            Self::fault(format!("{cause}: run `{program} check`"))
        }
    }
}

/// Converts an error that Dropshot itself reports for an operation. Today there is none, because
/// [`UnreadRequest`](crate::UnreadRequest) accepts every request. If that changes, the response
/// still matches the contract.
impl From<HttpError> for Error {
    fn from(refusal: HttpError) -> Self {
        Self { error: refusal.status_code.as_u16().into(), message: refusal.external_message }
    }
}

impl HttpResponseError for Error {
    /// Always 400, which the document declares whichever [`RefusalStatus`] the service has:
    /// Dropshot does not tell which service it is.
    fn status_code(&self) -> ErrorStatusCode {
        ErrorStatusCode::BAD_REQUEST
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.error)
    }
}
