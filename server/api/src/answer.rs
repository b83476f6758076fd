//! The answers of the operation, as Dropshot describes them: a 200 with a `Plant`, or an `Error`.
//!
//! Dropshot's own response types can set no header on a refusal. An [`Answer`] is a finished
//! response, so it can; the document describes it as the `Plant` of a success.

use std::fmt;

use dropshot::{Body, ErrorStatusCode, HttpCodedResponse, HttpError, HttpResponseError};
use http::{Response, StatusCode};

use crate::types::{Error, Plant};

/// A finished response of the operation.
pub struct Answer(pub Response<Body>);

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

/// What Dropshot itself refuses within the operation. Today it refuses nothing there, because
/// [`PlantRequest`] takes every request as it is. If that changes, the answer is still one of the
/// contract.
///
/// [`PlantRequest`]: crate::request::PlantRequest
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
