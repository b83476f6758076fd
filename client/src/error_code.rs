//! The values of `error`. The rows of the table are generated from the document.

use std::fmt::{self, Display, Formatter};

/// Defines `ErrorCode`. A row has a name, a number, whether the same plant may be sent again, and a
/// meaning.
macro_rules! error_code {
    ($($name:ident, $number:literal, $is_retryable:literal, $meaning:literal;)*) => {
        /// Why the service refused a request: the value of `error`, an HTTP status code that names
        /// the failure (RFC 9110, section 15).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $(#[doc = concat!($number, ": ", $meaning, ".")] $name,)*
            /// A value outside 5xx that this client does not know. It means the same as 400.
            OtherClientError(i32),
            /// A 5xx value that this client does not know. It means the same as 500.
            OtherServerError(i32),
        }

        impl ErrorCode {
            /// Every value that this client knows, in numerical order.
            pub const KNOWN: &[Self] = &[$(Self::$name),*];

            /// Returns the value of `error`.
            #[must_use]
            pub const fn number(self) -> i32 {
                match self {
                    $(Self::$name => $number,)*
                    Self::OtherClientError(number) | Self::OtherServerError(number) => number,
                }
            }

            /// Returns whether the same plant, unchanged, may be accepted later.
            #[must_use]
            #[allow(clippy::match_same_arms, reason = "one arm for each row")]
            pub const fn is_retryable(self) -> bool {
                match self {
                    $(Self::$name => $is_retryable,)*
                    Self::OtherClientError(_) => Self::BadRequest.is_retryable(),
                    Self::OtherServerError(_) => Self::InternalServerError.is_retryable(),
                }
            }
        }

        impl From<i32> for ErrorCode {
            fn from(number: i32) -> Self {
                match number {
                    $($number => Self::$name,)*
                    500..=599 => Self::OtherServerError(number),
                    _ => Self::OtherClientError(number),
                }
            }
        }
    };
}

error_code! {
    // errors: generated from the contract
    BadRequest, 400, false, "the request or its body does not match the contract";
    Unauthorized, 401, false, "no valid bearer token";
    RequestTimeout, 408, true, "the body did not arrive in time";
    Conflict, 409, false, "the id belongs to a different plant";
    ContentTooLarge, 413, false, "the body is too large";
    UnsupportedMediaType, 415, false, "the body is not plain application/json";
    TooManyRequests, 429, true, "a proxy in front of the service limits the rate of requests";
    InternalServerError, 500, true, "the service failed";
    ServiceUnavailable, 503, true, "the service cannot accept the request right now";
    // end of errors
}

/// Writes the value of `error`.
impl Display for ErrorCode {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.number(), formatter)
    }
}
