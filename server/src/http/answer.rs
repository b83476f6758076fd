//! What leaves the service: a 200 with a `Plant`, or a 400 with an `Error`, as
//! `application/json`. There is no third way out of the operation.
//!
//! Dropshot's own response types can set no header on a refusal. [`Answer`] can, and the document
//! describes it as the `Plant` of a success.

use std::fmt;

use dropshot::{Body, ErrorStatusCode, HttpCodedResponse, HttpError, HttpResponseError};
use http::header::{CONNECTION, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Response, StatusCode};
use serde::Serialize;

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

impl From<&Result<Plant, Refusal>> for Answer {
    fn from(outcome: &Result<Plant, Refusal>) -> Self {
        match outcome {
            Ok(plant) => Self(json(StatusCode::OK, plant)),
            Err(refusal) => refuse(refusal),
        }
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
    let mut response = json(StatusCode::BAD_REQUEST, &error);
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

fn json(status: StatusCode, body: &impl Serialize) -> Response<Body> {
    let body = serde_json::to_vec(body).expect("strings and integers are always JSON");
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// What Dropshot itself refuses within the operation. Today it refuses nothing there, because
/// [`PlantRequest`] takes every request as it is. Should that change, the contract still holds.
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
mod tests {
    use dropshot::ClientErrorStatusCode;

    use super::*;

    #[test]
    fn dropshot_refusal_is_a_400_of_the_contract() {
        let refusal =
            HttpError::for_client_error_with_status(None, ClientErrorStatusCode::CONFLICT);
        let error = Error::from(refusal);
        assert_eq!(error.status_code(), ErrorStatusCode::BAD_REQUEST);
        assert_eq!(error.to_string(), "Conflict (409)");
    }
}
