//! The answer to a refused request: its body and its headers.

use http::header::{CONNECTION, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use plant_store_api::answer::{Answer, Content};
use plant_store_api::error_code::{Error, ErrorCode};

use crate::http::refusal::Refusal;

/// RFC 6750, section 3.1: without an `error` code if no token was given.
const CHALLENGE: HeaderValue = HeaderValue::from_static(r#"Bearer realm="plant-store""#);
const CHALLENGE_INVALID: HeaderValue =
    HeaderValue::from_static(r#"Bearer realm="plant-store", error="invalid_token""#);

/// The answer to a refused request.
pub fn to_refusal<T: Content>(refusal: &Refusal) -> Answer<T> {
    let code = refusal.code();
    let error = Error { error: code.number().into(), message: refusal.to_string() };
    let mut answer = Answer::refusal(&error);
    let headers = answer.headers_mut();
    if code == ErrorCode::Unauthorized {
        let is_absent = matches!(refusal, Refusal::NoToken);
        headers.insert(WWW_AUTHENTICATE, if is_absent { CHALLENGE } else { CHALLENGE_INVALID });
    }
    if let Some(seconds) = code.retry_after() {
        headers.insert(RETRY_AFTER, seconds.into());
    }
    answer
}

/// RFC 9112, section 9.6: the connection closes after this response, because the rest of the
/// request will not be read.
pub fn close_connection<T: Content>(answer: &mut Answer<T>) {
    answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
}
