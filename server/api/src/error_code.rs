//! The schema of an error response, and the table of the values of its `error` member.
//!
//! This is the only such table. The document, the metrics, the `Retry-After` header and every
//! refusal use it, and the tables in the client and in the pages are generated from it.

use std::fmt;

use dropshot::{ErrorStatusCode, HttpError, HttpResponseError};
use schemars::JsonSchema;
use serde::Serialize;

/// The reason why a request was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(example = "Error::example")]
pub struct Error {
    /// The HTTP status code (RFC 9110) that names the failure.
    pub error: i32,
    /// Human-readable explanation of what happened and what to do about it. The wording may change.
    pub message: String,
}

impl Error {
    fn example() -> Self {
        let code = ErrorCode::Conflict;
        Self { error: code.number().into(), message: code.example().into() }
    }
}

/// The seconds in the `Retry-After` header of a refusal after which the same request may be sent
/// again. A fault or an overload passes as quickly as commits complete, and the header can only
/// express whole seconds.
const RETRY_AFTER_SECONDS: u16 = 1;

/// The properties of a value of `error`. The texts are part of the published document.
struct Row {
    number: u16,
    /// Whether the same request may be sent again, and the response has a `Retry-After` header.
    retryable: bool,
    /// The failure that the value names.
    meaning: &'static str,
    /// A `message` that the service sends with the value.
    example: &'static str,
}

/// Defines [`ErrorCode`] from the rows of the table.
macro_rules! table {
    ($($code:ident {
        number: $number:literal,
        retryable: $retryable:literal,
        meaning: $meaning:literal,
        example: $example:literal,
    })*) => {
        /// A value of `error`: the HTTP status code that names the failure (RFC 9110, section 15).
        /// Clients tell refusals apart by this value, because the status of the response itself is
        /// always 400.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ErrorCode {
            $(#[doc = $meaning] $code,)*
        }

        impl ErrorCode {
            /// Every value, in the order of the variants.
            pub const ALL: &[Self] = &[$(Self::$code),*];

            const fn row(self) -> Row {
                match self {
                    $(Self::$code => Row {
                        number: $number,
                        retryable: $retryable,
                        meaning: $meaning,
                        example: $example,
                    },)*
                }
            }
        }
    };
}

table! {
    BadRequest {
        number: 400,
        retryable: false,
        meaning: "the request or its body does not match the contract",
        example: "missing field `name` at line 1 column 8",
    }
    Unauthorized {
        number: 401,
        retryable: false,
        meaning: "no valid bearer token",
        example: "the bearer token is unknown, expired or revoked: ask the operator for a new one",
    }
    RequestTimeout {
        number: 408,
        retryable: true,
        meaning: "the body did not arrive in time",
        example: "the body did not arrive within 10s",
    }
    Conflict {
        number: 409,
        retryable: false,
        meaning: "the id belongs to a different plant",
        example: "plant 1 already exists and is different: choose another id",
    }
    ContentTooLarge {
        number: 413,
        retryable: false,
        meaning: "the body is too large",
        example: "the body is larger than 65536 bytes",
    }
    UnsupportedMediaType {
        number: 415,
        retryable: false,
        meaning: "the body is not plain application/json",
        example: "the body must be sent as `Content-Type: application/json`",
    }
    TooManyRequests {
        number: 429,
        retryable: true,
        meaning: "a proxy in front of the service limits the rate of requests",
        example: "too many requests: send the same request again in a moment",
    }
    InternalServerError {
        number: 500,
        retryable: true,
        meaning: "the service failed",
        example: "the service failed: the operator can find the cause in the log by the request id",
    }
    ServiceUnavailable {
        number: 503,
        retryable: true,
        meaning: "the service cannot accept the request right now",
        example: "the service is at its limit: send the same request again in a moment",
    }
}

impl ErrorCode {
    /// Returns the value of `error`.
    pub const fn number(self) -> u16 {
        self.row().number
    }

    /// Returns the failure that the value names, in the words of the published document.
    pub const fn meaning(self) -> &'static str {
        self.row().meaning
    }

    /// Returns a `message` that the service sends with the value.
    pub const fn example(self) -> &'static str {
        self.row().example
    }

    /// Returns whether the same request may be sent again.
    pub const fn is_retryable(self) -> bool {
        self.row().retryable
    }

    /// Returns the seconds in the `Retry-After` header (RFC 9110, section 10.2.3). The response has
    /// the header exactly if the same request may be sent again.
    pub fn retry_after(self) -> Option<u16> {
        self.is_retryable().then_some(RETRY_AFTER_SECONDS)
    }
}

/// Converts an error that Dropshot itself reports for an operation. Today there is none, because
/// [`UnreadRequest`](crate::request::UnreadRequest) accepts every request. If that changes, the
/// response still matches the contract.
impl From<HttpError> for Error {
    fn from(refusal: HttpError) -> Self {
        Self { error: refusal.status_code.as_u16().into(), message: refusal.external_message }
    }
}

impl HttpResponseError for Error {
    /// Always 400: the contract declares no other failure.
    fn status_code(&self) -> ErrorStatusCode {
        ErrorStatusCode::BAD_REQUEST
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.error)
    }
}

#[cfg(test)]
mod tests;
