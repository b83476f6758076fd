//! The answers of the operation: a 200 with a `Plant`, or a 400 with an `Error`, as
//! `application/json`. The operation has no third answer.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use dropshot::Body;
use http::header::{CONNECTION, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Response, StatusCode};
use hyper::body::{Frame, SizeHint};
use plant_store_api::error_code::ErrorCode;
use plant_store_api::types::Error;

use crate::http::bodies::Reservation;
use crate::http::credentials::NoToken;
use crate::http::refusal::Refusal;

/// RFC 6750, section 3.1: without an `error` code if no token was given.
const CHALLENGE: HeaderValue = HeaderValue::from_static(r#"Bearer realm="plant-store""#);
const CHALLENGE_INVALID: HeaderValue =
    HeaderValue::from_static(r#"Bearer realm="plant-store", error="invalid_token""#);

/// The 200: the JSON text of the plant.
pub fn plant(text: String, reserved: Arc<Reservation>) -> Response<Body> {
    let bytes = Reserved { bytes: text.into_bytes(), _reserved: reserved };
    finish(StatusCode::OK, Body::wrap(Pieces(Bytes::from_owner(bytes))))
}

/// The 400 of that refusal.
pub fn refusal(refusal: &Refusal) -> Response<Body> {
    let error = Error { error: refusal.code().number().into(), message: refusal.to_string() };
    let error = serde_json::to_vec(&error).expect("an error is always JSON");
    let mut response = finish(StatusCode::BAD_REQUEST, Body::from(error));
    let headers = response.headers_mut();
    if refusal.code() == ErrorCode::Unauthorized {
        let is_absent = matches!(refusal, Refusal::NoToken(NoToken::Absent));
        headers.insert(WWW_AUTHENTICATE, if is_absent { CHALLENGE } else { CHALLENGE_INVALID });
    }
    if let Some(seconds) = refusal.code().retry_after() {
        headers.insert(RETRY_AFTER, seconds.into());
    }
    response
}

/// RFC 9112, section 9.6: the connection closes after this response, because the rest of the request
/// will not be read.
pub fn close_connection(response: &mut Response<Body>) {
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
}

/// The bytes of an answer. They count as their request's body did, until the connection has sent or
/// dropped the last of them: hyper takes them out of the body before that.
struct Reserved {
    bytes: Vec<u8>,
    _reserved: Arc<Reservation>,
}

impl AsRef<[u8]> for Reserved {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// How many bytes of an answer are given to the connection at once.
const PIECE: usize = 64 * 1024;

/// A body in pieces. Over TLS hyper copies all that it is given at once, and the copy counts
/// nowhere.
struct Pieces(Bytes);

impl hyper::body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = self.0.len().min(PIECE);
        Poll::Ready((piece > 0).then(|| Ok(Frame::data(self.0.split_to(piece)))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.len() as u64)
    }
}

fn finish(status: StatusCode, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
