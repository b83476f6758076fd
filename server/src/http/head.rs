//! What the header fields of a request say: its bearer token, and the media type of its body.
//!
//! Of the value of `Authorization`, only the digest of the token may leave this module.

use http::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderName};
use http::{HeaderMap, HeaderValue};
use plant_store_store::token::TokenDigest;

use crate::http::refusal::Refusal;
use crate::token::Token;

/// The digest of the bearer token (RFC 9110, section 11.6.2; RFC 6750, section 2.1).
///
/// # Errors
///
/// `error` 401.
pub fn credentials(headers: &HeaderMap) -> Result<TokenDigest, Refusal> {
    if !headers.contains_key(AUTHORIZATION) {
        return Err(Refusal::NoToken);
    }
    let value = only(headers, &AUTHORIZATION).ok_or(Refusal::MalformedCredentials)?;
    // A token is ASCII.
    let value = value.to_str().map_err(|_| Refusal::MalformedToken)?;
    let (scheme, credentials) = value.split_once(' ').unwrap_or((value, ""));
    if !scheme.eq_ignore_ascii_case("Bearer") {
        return Err(Refusal::NoToken);
    }
    // 1*SP between the two.
    let token = credentials.trim_start_matches(' ');
    if token.is_empty() {
        return Err(Refusal::MalformedCredentials);
    }
    Ok(Token::parse(token).ok_or(Refusal::MalformedToken)?.digest())
}

/// Refuses a body that is not plain `application/json`: one media type (RFC 9110, section 8.3), its
/// name in any case. RFC 8259 defines no parameters of `application/json`, so they are ignored.
///
/// # Errors
///
/// `error` 415.
pub fn require_json(headers: &HeaderMap) -> Result<(), Refusal> {
    let media_type = only(headers, &CONTENT_TYPE).ok_or(Refusal::NotJsonMediaType)?;
    let essence = media_type.as_bytes().split(|byte| *byte == b';').next().unwrap_or_default();
    if !essence.trim_ascii().eq_ignore_ascii_case(b"application/json") {
        return Err(Refusal::NotJsonMediaType);
    }
    if headers.contains_key(CONTENT_ENCODING) {
        return Err(Refusal::ContentCoding);
    }
    Ok(())
}

/// The value of a field that is there exactly once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() { None } else { first }
}
