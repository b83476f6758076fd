//! What leaves the service: a 200 with a `Plant`, or a 400 with an `Error`, as
//! `application/json`. There is no third way out of the operation.
//!
//! Dropshot's own response types can set no header on a refusal; [`Answer`] can, and documents
//! itself as the `Plant` that it is on success.

use dropshot::{Body, HttpCodedResponse, HttpError};
use http::header::{CONNECTION, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Response, StatusCode};
use serde::Serialize;

use crate::api::{Error, Plant};
use crate::credentials::NoToken;
use crate::refusal::Refusal;

/// RFC 6750, section 3.1: no `error` code where no token was given.
const CHALLENGE: HeaderValue = HeaderValue::from_static(r#"Bearer realm="plant-store""#);
const CHALLENGE_INVALID: HeaderValue =
    HeaderValue::from_static(r#"Bearer realm="plant-store", error="invalid_token""#);

/// Overload passes as fast as a commit does; one second is the smallest step of the header.
const RETRY_AFTER_SECONDS: HeaderValue = HeaderValue::from_static("1");

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

impl From<&Result<Plant, Refusal>> for Answer {
    fn from(outcome: &Result<Plant, Refusal>) -> Self {
        match outcome {
            Ok(plant) => Self(json(StatusCode::OK, plant)),
            Err(refusal) => refuse(refusal),
        }
    }
}

impl Answer {
    /// RFC 9112, section 9.6: the connection ends with this response, because what the client
    /// still sends of its request will not be read.
    #[must_use]
    pub fn closing_connection(mut self) -> Self {
        self.0.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        self
    }

    /// The status of the response: 200 or 400.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.0.status()
    }
}

fn refuse(refusal: &Refusal) -> Answer {
    let error = Error { error: i32::from(refusal.error().as_u16()), message: refusal.to_string() };
    let mut response = json(StatusCode::BAD_REQUEST, &error);
    let headers = response.headers_mut();
    match refusal {
        Refusal::NoToken(NoToken::Absent) => {
            headers.insert(WWW_AUTHENTICATE, CHALLENGE);
        }
        Refusal::NoToken(NoToken::Malformed) | Refusal::TokenNotAccepted => {
            headers.insert(WWW_AUTHENTICATE, CHALLENGE_INVALID);
        }
        Refusal::Overload | Refusal::StoreUnavailable => {
            headers.insert(RETRY_AFTER, RETRY_AFTER_SECONDS);
        }
        _ => {}
    }
    Answer(response)
}

fn json(status: StatusCode, body: &impl Serialize) -> Response<Body> {
    let body = serde_json::to_vec(body).expect("strings and integers are always JSON");
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
