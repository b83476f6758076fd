//! The answers of the operation: a 200 with the text of a `Plant`, or a 400 with an `Error`, as
//! `application/json`. The operation has no third answer.

use std::sync::Arc;

use bytes::Bytes;
use dropshot::{Body, HttpError};
use http::header::{CONNECTION, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Response, StatusCode};
use http_body_util::Full;
use plant_store_api::answer::Answer;
use plant_store_api::error_code::ErrorCode;
use plant_store_api::types::Error;

use crate::http::admission::Place;
use crate::http::refusal::Refusal;

/// RFC 6750, section 3.1: without an `error` code if no token was given.
const CHALLENGE: HeaderValue = HeaderValue::from_static(r#"Bearer realm="plant-store""#);
const CHALLENGE_INVALID: HeaderValue =
    HeaderValue::from_static(r#"Bearer realm="plant-store", error="invalid_token""#);

/// The text of a plant that was stored. It keeps the place of its create until the connection has
/// sent or dropped the last byte: hyper takes the bytes out of the body before that.
struct Stored {
    plant: String,
    _place: Arc<Place>,
}

impl AsRef<[u8]> for Stored {
    fn as_ref(&self) -> &[u8] {
        self.plant.as_bytes()
    }
}

/// The answer to a stored plant, whose create has that place.
pub fn accept(plant: String, place: Arc<Place>) -> Answer {
    let body = Body::wrap(Full::new(Bytes::from_owner(Stored { plant, _place: place })));
    Answer(response(StatusCode::OK, body))
}

/// The answer to a refused request.
pub fn refuse(refusal: &Refusal) -> Answer {
    let code = refusal.code();
    let error = Error { error: code.number().into(), message: refusal.to_string() };
    let body = serde_json::to_vec(&error).expect("strings and integers are always JSON");
    let mut response = response(StatusCode::BAD_REQUEST, Body::from(body));
    let headers = response.headers_mut();
    if code == ErrorCode::Unauthorized {
        let is_absent = matches!(refusal, Refusal::NoToken);
        headers.insert(WWW_AUTHENTICATE, if is_absent { CHALLENGE } else { CHALLENGE_INVALID });
    }
    if let Some(seconds) = code.retry_after() {
        headers.insert(RETRY_AFTER, seconds.into());
    }
    Answer(response)
}

/// The answer to a request that is not for the operation, as Dropshot gives it. The contract says
/// nothing of such requests.
pub fn not_for_us(refusal: HttpError, request_id: &str) -> Answer {
    Answer(refusal.into_response(request_id))
}

/// RFC 9112, section 9.6: the connection closes after this response, because the rest of the request
/// will not be read.
pub fn closing_connection(mut answer: Answer) -> Answer {
    answer.0.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    answer
}

fn response(status: StatusCode, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
