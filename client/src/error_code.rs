// Generated from openapi/plant-store.json: `cargo xtask generate` writes this file.

#![allow(
    clippy::all,
    clippy::pedantic,
    clippy::unwrap_used,
    dead_code,
    missing_docs,
    unused_imports,
    unused_variables,
    reason = "generated: the generator decides how it reads"
)]

use std::fmt::{self, Display, Formatter};
/// Why the service refused a request: the value of `error`, an HTTP status code that names the
/// failure (RFC 9110, section 15).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorCode {
    /// 400: the body is not a NewPlant.
    BadRequest,
    /// 401: no valid bearer token.
    Unauthorized,
    /// 408: the body did not arrive in time.
    RequestTimeout,
    /// 409: the id belongs to a different plant.
    Conflict,
    /// 413: the body is too large.
    ContentTooLarge,
    /// 415: the body is not plain application/json.
    UnsupportedMediaType,
    /// 429: more creates a second than the token may send.
    TooManyRequests,
    /// 500: a fault of the service.
    InternalServerError,
    /// 503: the service cannot take the plant now.
    ServiceUnavailable,
    /// A value that this client does not know, and that is no 5xx: it means the same as 400.
    OtherClientError(i32),
    /// A 5xx that this client does not know: it means the same as 500.
    OtherServerError(i32),
}
impl ErrorCode {
    /// Every value that this client knows, in the order of the numbers.
    pub const KNOWN: &[Self] = &[
        Self::BadRequest,
        Self::Unauthorized,
        Self::RequestTimeout,
        Self::Conflict,
        Self::ContentTooLarge,
        Self::UnsupportedMediaType,
        Self::TooManyRequests,
        Self::InternalServerError,
        Self::ServiceUnavailable,
    ];
    /// The value of `error`.
    #[must_use]
    pub const fn number(self) -> i32 {
        match self {
            Self::BadRequest => 400,
            Self::Unauthorized => 401,
            Self::RequestTimeout => 408,
            Self::Conflict => 409,
            Self::ContentTooLarge => 413,
            Self::UnsupportedMediaType => 415,
            Self::TooManyRequests => 429,
            Self::InternalServerError => 500,
            Self::ServiceUnavailable => 503,
            Self::OtherClientError(number) | Self::OtherServerError(number) => number,
        }
    }
    /// Whether the same plant, as it is, may be accepted later.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        match self {
            Self::BadRequest => false,
            Self::Unauthorized => false,
            Self::RequestTimeout => true,
            Self::Conflict => false,
            Self::ContentTooLarge => false,
            Self::UnsupportedMediaType => false,
            Self::TooManyRequests => true,
            Self::InternalServerError => true,
            Self::ServiceUnavailable => true,
            Self::OtherClientError(_) => false,
            Self::OtherServerError(_) => true,
        }
    }
}
impl From<i32> for ErrorCode {
    fn from(number: i32) -> Self {
        match number {
            400 => Self::BadRequest,
            401 => Self::Unauthorized,
            408 => Self::RequestTimeout,
            409 => Self::Conflict,
            413 => Self::ContentTooLarge,
            415 => Self::UnsupportedMediaType,
            429 => Self::TooManyRequests,
            500 => Self::InternalServerError,
            503 => Self::ServiceUnavailable,
            500..=599 => Self::OtherServerError(number),
            _ => Self::OtherClientError(number),
        }
    }
}
/// The value of `error`.
impl Display for ErrorCode {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.number(), formatter)
    }
}
