//! The media type of a body: plain `application/json`.

use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};

use crate::http::field::Field;
use crate::http::refusal::Refusal;

/// RFC 9110, section 8.3: one media type, its name in any case. RFC 8259 defines no parameters of
/// `application/json`, so they are ignored.
pub fn check_media_type(headers: &HeaderMap) -> Result<(), Refusal> {
    let Field::Once(media_type) = Field::of(headers, &CONTENT_TYPE) else {
        return Err(Refusal::NotJsonMediaType);
    };
    let essence = media_type.as_bytes().split(|byte| *byte == b';').next().unwrap_or_default();
    if !essence.trim_ascii().eq_ignore_ascii_case(b"application/json") {
        return Err(Refusal::NotJsonMediaType);
    }
    if headers.contains_key(CONTENT_ENCODING) {
        return Err(Refusal::ContentCoding);
    }
    Ok(())
}
