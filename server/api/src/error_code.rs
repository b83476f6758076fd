//! The values of `Error.error`: the one table of them.
//!
//! The document's description of `Error.error`, the metrics, `Retry-After` and every refusal take
//! them from here. Tests compare the client, the READMEs, the recipes and the way of a request in
//! the service's documentation with this table.

use strum::VariantArray;

/// The value by which a client distinguishes refusals: the HTTP status code that names the failure
/// (RFC 9110, section 15). The status of the response itself is always 400.
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray)]
#[expect(missing_docs, reason = "the table says what each means")]
pub enum ErrorCode {
    BadRequest,
    Unauthorized,
    RequestTimeout,
    Conflict,
    ContentTooLarge,
    UnsupportedMediaType,
    TooManyRequests,
    InternalServerError,
    ServiceUnavailable,
}

/// Whether the same request may succeed later.
enum Repeat {
    No,
    Yes,
    /// After so many seconds.
    After(u16),
}

impl ErrorCode {
    /// The table: each value, when a client meets it, and whether the same request may succeed
    /// later. The words are published.
    const fn row(self) -> (u16, &'static str, Repeat) {
        match self {
            Self::BadRequest => (400, "the body is not a NewPlant", Repeat::No),
            Self::Unauthorized => (401, "no valid bearer token", Repeat::No),
            Self::RequestTimeout => (408, "the body did not arrive in time", Repeat::Yes),
            Self::Conflict => (409, "the id belongs to a different plant", Repeat::No),
            Self::ContentTooLarge => (413, "the body is too large", Repeat::No),
            Self::UnsupportedMediaType => {
                (415, "the body is not plain application/json", Repeat::No)
            }
            // A token's rate is counted by the second.
            Self::TooManyRequests => {
                (429, "more creates a second than the token may send", Repeat::After(1))
            }
            Self::InternalServerError => (500, "a fault of the service", Repeat::Yes),
            // Overload passes as fast as commits do, and the header counts whole seconds.
            Self::ServiceUnavailable => {
                (503, "the service cannot take the plant now", Repeat::After(1))
            }
        }
    }

    /// Every value, in the order of the numbers.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// The value.
    #[must_use]
    pub const fn number(self) -> u16 {
        self.row().0
    }

    /// When a client meets the value, in the words of the published document.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        self.row().1
    }

    /// Whether the same request may succeed later.
    #[must_use]
    pub const fn may_pass(self) -> bool {
        !matches!(self.row().2, Repeat::No)
    }

    /// The seconds of the answer's `Retry-After`.
    #[must_use]
    pub const fn retry_after(self) -> Option<u16> {
        match self.row().2 {
            Repeat::After(seconds) => Some(seconds),
            Repeat::No | Repeat::Yes => None,
        }
    }
}
