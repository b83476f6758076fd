//! Reads the header fields on which a request may be refused: the credentials, and the media type
//! of the body.
//!
//! Only the digest of the token may leave this module, never any other part of the `Authorization`
//! header.

use groundwork_store::token::TokenDigest;
use http::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderName};
use http::{HeaderMap, HeaderValue};

use crate::error::{ErrorCode, Refusal};
use crate::tokens;

/// Returns the digest of the bearer token (RFC 9110, section 11.6.2; RFC 6750, section 2.1).
///
/// # Errors
///
/// `error` 401.
pub fn credentials(prefix: &str, headers: &HeaderMap) -> Result<TokenDigest, Refusal> {
    const MISSING: &str = "a bearer token is required: send `Authorization: Bearer <ACCESS_TOKEN>`";
    const MALFORMED: &str =
        "the bearer token is malformed: send `Authorization: Bearer <ACCESS_TOKEN>` once";
    let missing =
        || Refusal { lacks_token: true, ..Refusal::new(ErrorCode::UNAUTHORIZED, MISSING) };
    let malformed = || Refusal::new(ErrorCode::UNAUTHORIZED, MALFORMED);
    let mistyped = || {
        let message = format!(
            "the bearer token is truncated or mistyped: a token is `{prefix}` followed by 38 \
             letters and digits; send it exactly as it was issued"
        );
        Refusal::new(ErrorCode::UNAUTHORIZED, message)
    };
    if !headers.contains_key(AUTHORIZATION) {
        return Err(missing());
    }
    let value = single_value(headers, &AUTHORIZATION).ok_or_else(malformed)?;
    // Tokens are ASCII.
    let value = value.to_str().map_err(|_| mistyped())?;
    let (scheme, credentials) = value.split_once(' ').unwrap_or((value, ""));
    if !scheme.eq_ignore_ascii_case("Bearer") {
        return Err(missing());
    }
    // The grammar allows several spaces between the scheme and the token (1*SP).
    match credentials.trim_start_matches(' ') {
        "" => Err(malformed()),
        token => tokens::parse(prefix, token).ok_or_else(mistyped),
    }
}

/// Checks that the body is plain `application/json`: a single media type (RFC 9110, section 8.3),
/// compared case-insensitively, and no content coding (section 8.4). Parameters are ignored,
/// because RFC 8259 defines none for `application/json`.
///
/// # Errors
///
/// `error` 415.
pub fn require_json(headers: &HeaderMap) -> Result<(), Refusal> {
    let media_type = single_value(headers, &CONTENT_TYPE);
    let essence = media_type.and_then(|value| value.as_bytes().split(|b| *b == b';').next());
    if !essence.unwrap_or_default().trim_ascii().eq_ignore_ascii_case(b"application/json") {
        return Err(Refusal::of(ErrorCode::UNSUPPORTED_MEDIA_TYPE));
    }
    if headers.contains_key(CONTENT_ENCODING) {
        let message = "the body must be sent without a `Content-Encoding`";
        return Err(Refusal::new(ErrorCode::UNSUPPORTED_MEDIA_TYPE, message));
    }
    Ok(())
}

/// Returns the value of a field that occurs exactly once.
fn single_value<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() { None } else { first }
}
