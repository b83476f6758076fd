//! The values of `error`. The rows are generated from the table of the service.

use std::fmt::{self, Display, Formatter};

/// Defines `ErrorCode`.
macro_rules! error_code {
    ($($name:ident $number:literal)*) => {
        /// Why a service refused a request: the value of `error`, an HTTP status code that names
        /// the failure (RFC 9110, section 15).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $(#[doc = concat!($number, ".")] $name,)*
            /// Another value. It means the same as the x00 value of its class.
            Other(i32),
        }

        impl ErrorCode {
            /// Every value that has a name here.
            pub const KNOWN: &[Self] = &[$(Self::$name),*];

            /// Returns the value of `error`.
            #[must_use]
            pub const fn number(self) -> i32 {
                match self {
                    $(Self::$name => $number,)*
                    Self::Other(number) => number,
                }
            }
        }

        impl From<i32> for ErrorCode {
            fn from(number: i32) -> Self {
                match number {
                    $($number => Self::$name,)*
                    _ => Self::Other(number),
                }
            }
        }
    };
}

error_code! {
    // errors: generated from the contract
    BadRequest 400
    Unauthorized 401
    RequestTimeout 408
    Conflict 409
    ContentTooLarge 413
    UnsupportedMediaType 415
    TooManyRequests 429
    InternalServerError 500
    ServiceUnavailable 503
    // end of errors
}

/// Writes the value of `error`.
impl Display for ErrorCode {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.number(), formatter)
    }
}
