//! An error and its causes, as one line for people.

use std::error::Error as StdError;

/// An error of any type, as [`StdError::source`] gives it.
pub(crate) type Cause = dyn StdError + 'static;

/// An error, its cause, the cause of that, and so on.
pub(crate) fn chain(error: &Cause) -> impl Iterator<Item = &Cause> {
    std::iter::successors(Some(error), |error| (*error).source())
}

/// What hyper says of an answer that is no HTTP/1.1, such as the alert of a server that speaks TLS.
pub(crate) const NO_HTTP: &str = "invalid HTTP version parsed";

/// The text, with its control characters escaped: a terminal would obey them.
pub(crate) fn in_one_line(text: &str) -> String {
    let escaped = |letter: char| {
        if letter.is_control() { letter.escape_default().to_string() } else { letter.to_string() }
    };
    text.chars().map(escaped).collect()
}

/// An error and its causes, in one line.
pub(crate) fn with_causes(error: &Cause) -> String {
    let causes = chain(error).map(ToString::to_string).collect::<Vec<_>>().join(": ");
    // The first byte of every TLS record is its content type (RFC 8446, section 5.1).
    let advice = if causes.ends_with("InvalidContentType") {
        ": the server does not speak TLS there; see whether its URL is http"
    } else if causes.ends_with(NO_HTTP) {
        ": the server does not speak HTTP there; see whether its URL is https"
    } else {
        ""
    };
    causes + advice
}
