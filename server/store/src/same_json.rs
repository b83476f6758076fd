//! Whether two JSON texts are the same value.

use serde_json::Value;

/// How many times as long one JSON text may be as another text of the same value without white
/// space: an escape such as `\u0046` takes six bytes for one (RFC 8259, section 7).
const LONGEST_ESCAPE: usize = 6;

/// Whether the kept text is the JSON value that was sent: the same text, or another text of the same
/// value. False if the kept text is not JSON.
///
/// `sent` is not the body of the request: the service writes each text anew, always in the same
/// way, so one value has one text. The values are compared for a row that another release or
/// another program has written, with its members in another order or with other escapes.
///
/// The writer's thread compares. So a text is not parsed if it is longer than any escape makes it:
/// this service keeps no such text.
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
