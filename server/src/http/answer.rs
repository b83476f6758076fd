//! The answers of the operation: a 200 with a `Plant`, or a 400 with an `Error`, as
//! `application/json`. The operation has no third answer.
//!
//! Dropshot's own response types can set no header on a refusal. [`Answer`] can, and the document
//! describes it as the `Plant` of a success.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use dropshot::{Body, ErrorStatusCode, HttpCodedResponse, HttpError, HttpResponseError};
use http::header::{CONNECTION, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Response, StatusCode};
use hyper::body::{Frame, SizeHint};
use serde::Serialize;

use crate::http::bodies::Reservation;
use crate::http::credentials::NoToken;
use crate::http::error_code::ErrorCode;
use crate::http::refusal::Refusal;
use crate::types::{Error, Plant};

/// RFC 6750, section 3.1: without an `error` code if no token was given.
const CHALLENGE: HeaderValue = HeaderValue::from_static(r#"Bearer realm="plant-store""#);
const CHALLENGE_INVALID: HeaderValue =
    HeaderValue::from_static(r#"Bearer realm="plant-store", error="invalid_token""#);

/// A finished response of the operation.
pub struct Answer(Response<Body>);

impl HttpCodedResponse for Answer {
    type Body = Plant;
    const STATUS_CODE: StatusCode = StatusCode::OK;
    const DESCRIPTION: &'static str = "Plant response";
}

impl From<Answer> for Result<Response<Body>, HttpError> {
    fn from(answer: Answer) -> Self {
        Ok(answer.0)
    }
}

impl From<&Result<(Plant, Arc<Reservation>), Refusal>> for Answer {
    fn from(outcome: &Result<(Plant, Arc<Reservation>), Refusal>) -> Self {
        match outcome {
            Ok((plant, reserved)) => {
                let reserved = Arc::clone(reserved);
                let bytes = Reserved { bytes: to_json(plant), _reserved: reserved };
                Self(response(StatusCode::OK, Body::wrap(Pieces(Bytes::from_owner(bytes)))))
            }
            Err(refusal) => refuse(refusal),
        }
    }
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

impl Answer {
    /// RFC 9112, section 9.6: the connection closes after this response, because the rest of the
    /// request will not be read.
    #[must_use]
    pub fn closing_connection(mut self) -> Self {
        self.0.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        self
    }

    /// The answer to a request that is not for the operation, as Dropshot gives it. The contract
    /// says nothing of such requests.
    #[must_use]
    pub fn not_for_us(refusal: HttpError, request_id: &str) -> Self {
        Self(refusal.into_response(request_id))
    }
}

fn refuse(refusal: &Refusal) -> Answer {
    let error = Error { error: refusal.code().number().into(), message: refusal.to_string() };
    let mut response = response(StatusCode::BAD_REQUEST, Body::from(to_json(&error)));
    let headers = response.headers_mut();
    if refusal.code() == ErrorCode::Unauthorized {
        let is_absent = matches!(refusal, Refusal::NoToken(NoToken::Absent));
        headers.insert(WWW_AUTHENTICATE, if is_absent { CHALLENGE } else { CHALLENGE_INVALID });
    }
    if let Some(seconds) = refusal.code().retry_after() {
        headers.insert(RETRY_AFTER, seconds.into());
    }
    Answer(response)
}

fn to_json(body: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(body).expect("strings and integers are always JSON")
}

fn response(status: StatusCode, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// What Dropshot itself refuses within the operation. Today it refuses nothing there, because
/// [`PlantRequest`] takes every request as it is. If that changes, the answer is still one of the
/// contract.
///
/// [`PlantRequest`]: crate::http::request::PlantRequest
impl From<HttpError> for Error {
    fn from(refusal: HttpError) -> Self {
        Self { error: refusal.status_code.as_u16().into(), message: refusal.external_message }
    }
}

impl HttpResponseError for Error {
    /// Always 400: the contract declares no other failure.
    fn status_code(&self) -> ErrorStatusCode {
        ErrorStatusCode::BAD_REQUEST
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.error)
    }
}

#[cfg(test)]
mod tests;
