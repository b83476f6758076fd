//! Parses the header fields of a request: its bearer token and the media type of its body.
//!
//! Only the digest of the token may leave this module, never any other part of the `Authorization`
//! header.

use http::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderName};
use http::{HeaderMap, HeaderValue};
use plant_store_store::token::TokenDigest;

use crate::http::refusal::Refusal;
use crate::token::Token;

/// Returns the digest of the bearer token (RFC 9110, section 11.6.2; RFC 6750, section 2.1).
///
/// # Errors
///
/// `error` 401.
pub fn credentials(headers: &HeaderMap) -> Result<TokenDigest, Refusal> {
    if !headers.contains_key(AUTHORIZATION) {
        return Err(Refusal::NoToken);
    }
    let value = single_value(headers, &AUTHORIZATION).ok_or(Refusal::MalformedCredentials)?;
    // Tokens are ASCII.
    let value = value.to_str().map_err(|_| Refusal::MalformedToken)?;
    let (scheme, credentials) = value.split_once(' ').unwrap_or((value, ""));
    if !scheme.eq_ignore_ascii_case("Bearer") {
        return Err(Refusal::NoToken);
    }
    // The grammar allows several spaces between the scheme and the token (1*SP).
    let token = credentials.trim_start_matches(' ');
    if token.is_empty() {
        return Err(Refusal::MalformedCredentials);
    }
    Ok(Token::parse(token).ok_or(Refusal::MalformedToken)?.digest())
}

/// Checks that the body is plain `application/json`: a single media type (RFC 9110, section 8.3),
/// compared case-insensitively, and no content coding. Parameters are ignored, because RFC 8259
/// defines none for `application/json`.
///
/// # Errors
///
/// `error` 415.
pub fn require_json(headers: &HeaderMap) -> Result<(), Refusal> {
    let media_type = single_value(headers, &CONTENT_TYPE).ok_or(Refusal::NotJsonMediaType)?;
    let essence = media_type.as_bytes().split(|byte| *byte == b';').next().unwrap_or_default();
    if !essence.trim_ascii().eq_ignore_ascii_case(b"application/json") {
        return Err(Refusal::NotJsonMediaType);
    }
    if headers.contains_key(CONTENT_ENCODING) {
        return Err(Refusal::ContentCoding);
    }
    Ok(())
}

/// Returns the value of a field that occurs exactly once.
fn single_value<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() { None } else { first }
}
