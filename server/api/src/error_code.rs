//! The schema of a refusal, and the values of its `error`: the one table of them.
//!
//! The document, the metrics, `Retry-After` and every refusal take them from here. The client, the
//! READMEs and the recipes are generated from the document.

use std::fmt;

use dropshot::{ErrorStatusCode, HttpError, HttpResponseError};
use schemars::JsonSchema;
use serde::Serialize;

/// Why a request was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Error {
    /// The HTTP status code (RFC 9110) that names the failure.
    pub error: i32,
    /// What happened and what to do about it, for people. The wording may change.
    pub message: String,
}

/// Makes the enumeration of the rows.
macro_rules! table {
    ($($code:ident $number:literal, $pause:expr, $meaning:literal, $example:literal;)*) => {
        /// The value by which a client distinguishes refusals: the HTTP status code that names the
        /// failure (RFC 9110, section 15). The status of the response itself is always 400.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ErrorCode {
            $(#[doc = $meaning] $code,)*
        }

        impl ErrorCode {
            /// Every value, in the order of the numbers.
            pub const ALL: &[Self] = &[$(Self::$code),*];

            const fn row(self) -> (u16, Option<u16>, &'static str, &'static str) {
                match self {
                    $(Self::$code => ($number, $pause, $meaning, $example),)*
                }
            }
        }
    };
}

// The number, after how many seconds the same request may succeed, if it ever may, when a client meets
// it, and a `message` that the service sends with it. The words are published. A rate is counted by the
// second, overload passes as fast as commits do, and `Retry-After` has whole seconds.
table! {
    BadRequest 400, None, "the body is not a NewPlant", "`name` is missing";
    Unauthorized 401, None, "no valid bearer token",
        "the bearer token is unknown, expired or revoked: ask the operator for a new one";
    RequestTimeout 408, Some(0), "the body did not arrive in time",
        "the body did not arrive within 10s";
    Conflict 409, None, "the id belongs to a different plant",
        "plant 1 exists and is a different one: choose another id";
    ContentTooLarge 413, None, "the body is too large", "the body is larger than 65536 bytes";
    UnsupportedMediaType 415, None, "the body is not plain application/json",
        "the body must be sent as `Content-Type: application/json`";
    TooManyRequests 429, Some(1), "more creates a second than the token may send",
        "the token may send 50 creates a second: send the plant again in a moment, as it is";
    InternalServerError 500, Some(0), "a fault of the service",
        "the service failed; the operator finds the cause in the log by the request id";
    ServiceUnavailable 503, Some(1), "the service cannot take the plant now",
        "the service is at its limit: send the plant again in a moment, as it is";
}

impl ErrorCode {
    /// The value.
    pub const fn number(self) -> u16 {
        self.row().0
    }

    /// When a client meets the value, in the words of the published document.
    pub const fn meaning(self) -> &'static str {
        self.row().2
    }

    /// A `message` that the service sends with the value.
    pub const fn example(self) -> &'static str {
        self.row().3
    }

    /// Whether the same request may succeed later.
    pub const fn is_retryable(self) -> bool {
        self.row().1.is_some()
    }

    /// The seconds of the answer's `Retry-After`.
    pub fn retry_after(self) -> Option<u16> {
        self.row().1.filter(|seconds| *seconds > 0)
    }
}

/// What Dropshot itself refuses within the operation. Today it refuses nothing there, because
/// [`PlantRequest`](crate::api::PlantRequest) takes every request as it is. If that changes, the answer
/// is still one of the contract.
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
