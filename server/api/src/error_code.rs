//! The schema of a refusal, and the values of its `error`: the one table of them.
//!
//! The document, the metrics, `Retry-After` and every refusal take them from here. The table
//! of the client and those of pages are generated from it.

use std::fmt;

use dropshot::{ErrorStatusCode, HttpError, HttpResponseError};
use schemars::JsonSchema;
use serde::Serialize;

/// Why a request was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(example = "Error::example")]
pub struct Error {
    /// The HTTP status code (RFC 9110) that names the failure.
    pub error: i32,
    /// What happened and what to do about it, for people. The wording may change.
    pub message: String,
}

impl Error {
    fn example() -> Self {
        let code = ErrorCode::Conflict;
        Self { error: code.number().into(), message: code.example().into() }
    }
}

/// When a client may send a refused request again, as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Never: it is refused again.
    Never,
    /// At once.
    AtOnce,
    /// After that many seconds, which `Retry-After` says (RFC 9110, section 10.2.3).
    AfterSeconds(u16),
}

/// What is said of a value of `error`. The words are published.
struct Row {
    number: u16,
    retry: Retry,
    /// When a client meets the value.
    meaning: &'static str,
    /// A `message` that the service sends with it.
    example: &'static str,
}

/// Makes the enumeration of the rows.
macro_rules! table {
    ($($code:ident {
        number: $number:literal,
        retry: $retry:expr,
        meaning: $meaning:literal,
        example: $example:literal,
    })*) => {
        /// The value by which a client distinguishes refusals: the HTTP status code that names the
        /// failure (RFC 9110, section 15). The status of the response itself is always 400.
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
                        retry: $retry,
                        meaning: $meaning,
                        example: $example,
                    },)*
                }
            }
        }
    };
}

// A rate is counted by the second, overload passes as fast as commits do, and `Retry-After` has
// whole seconds.
table! {
    BadRequest {
        number: 400,
        retry: Retry::Never,
        meaning: "the request or its body is not what the contract describes",
        example: "missing field `name` at line 1 column 8",
    }
    Unauthorized {
        number: 401,
        retry: Retry::Never,
        meaning: "no valid bearer token",
        example: "the bearer token is unknown, expired or revoked: ask the operator for a new one",
    }
    RequestTimeout {
        number: 408,
        retry: Retry::AtOnce,
        meaning: "the body did not arrive in time",
        example: "the body did not arrive within 10s",
    }
    Conflict {
        number: 409,
        retry: Retry::Never,
        meaning: "the id belongs to a different plant",
        example: "plant 1 exists and is a different one: choose another id",
    }
    ContentTooLarge {
        number: 413,
        retry: Retry::Never,
        meaning: "the body is too large",
        example: "the body is larger than 65536 bytes",
    }
    UnsupportedMediaType {
        number: 415,
        retry: Retry::Never,
        meaning: "the body is not plain application/json",
        example: "the body must be sent as `Content-Type: application/json`",
    }
    TooManyRequests {
        number: 429,
        retry: Retry::AfterSeconds(1),
        meaning: "more creates per second than the token may send",
        example: "the token may send 50 creates per second: send the request again in a moment, as \
            it is",
    }
    InternalServerError {
        number: 500,
        retry: Retry::AtOnce,
        meaning: "a fault of the service",
        example: "the service failed; the operator finds the cause in the log by the request id",
    }
    ServiceUnavailable {
        number: 503,
        retry: Retry::AfterSeconds(1),
        meaning: "the service cannot take the request now",
        example: "the service is at its limit: send the request again in a moment, as it is",
    }
}

impl ErrorCode {
    /// The value.
    pub const fn number(self) -> u16 {
        self.row().number
    }

    /// When a client meets the value, in the words of the published document.
    pub const fn meaning(self) -> &'static str {
        self.row().meaning
    }

    /// A `message` that the service sends with the value.
    pub const fn example(self) -> &'static str {
        self.row().example
    }

    /// Whether the same request may succeed later.
    pub fn is_retryable(self) -> bool {
        self.row().retry != Retry::Never
    }

    /// The seconds of the answer's `Retry-After`.
    pub const fn retry_after(self) -> Option<u16> {
        match self.row().retry {
            Retry::AfterSeconds(seconds) => Some(seconds),
            Retry::Never | Retry::AtOnce => None,
        }
    }
}

/// What Dropshot itself refuses within an operation. Today it refuses nothing there, because
/// [`Unread`](crate::request::Unread) takes every request as it is. If that changes, the answer is
/// still one of the contract.
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
