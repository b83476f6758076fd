//! Comparison of JSON texts by their value.

use serde_json::Value;

/// The maximum ratio between the lengths of two JSON texts of the same value that contain no white
/// space: an escape such as `\u0046` takes six bytes for one (RFC 8259, section 7).
const LONGEST_ESCAPE: usize = 6;

/// Whether the stored text `kept` and the text `sent` are the same JSON value. Returns `false` if
/// `kept` differs and is not JSON.
///
/// `sent` is not the body of the request. The service serializes each value anew, always in the
/// same way, so a value normally has one text. The values are compared for rows that another
/// release or another program has written with its members in another order or with other escapes.
///
/// This runs on the writer thread, so a text is not parsed if it is longer than escapes alone could
/// make it. The service never stores such a text.
#[must_use]
pub fn is_same_json(kept: &str, sent: &str) -> bool {
    if kept == sent {
        return true;
    }
    let longest = LONGEST_ESCAPE * kept.len().min(sent.len());
    if kept.len().max(sent.len()) > longest {
        return false;
    }
    let value = |text| serde_json::from_str::<Value>(text).ok();
    value(kept).is_some_and(|kept| Some(kept) == value(sent))
}

#[cfg(test)]
mod tests;
