//! Whether two JSON texts are the same plant.

use serde_json::Value;

/// How many times as long one JSON text may be as another one of the same value without white
/// space: an escape such as `\u0046` has six bytes for one (RFC 8259, section 7).
const LONGEST_ESCAPE: usize = 6;

/// Whether a kept text is the plant that was sent: the same text, or the same JSON value. False if
/// the kept text is not JSON.
///
/// `sent` is not the body of the request: the service writes a plant's text anew, always in the
/// same way, so one plant has one text. The values are for a row that another release or another
/// program wrote, with its members in another order or with other escapes.
///
/// The thread of the writer compares. So a text is not parsed if it is longer than any escape makes
/// it: no text that this service has kept is so long.
#[must_use]
pub fn is_same_plant(kept: &str, sent: &str) -> bool {
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
