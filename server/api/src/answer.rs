//! The answer of an operation: a 200 with what the document describes, or a refusal.
//!
//! Of Dropshot's own types, only `HttpError` can set a header on a refusal, and its body is another
//! one; the others serialise again what was given to a store as text. [`Answer`] has the same
//! description in the document. Nothing here knows why a request is refused.

use std::marker::PhantomData;
use std::sync::Arc;

use bytes::Bytes;
use dropshot::{Body, HttpCodedResponse, HttpError, HttpResponseError};
use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::{HeaderMap, Response, StatusCode};
use http_body_util::Full;
use schemars::JsonSchema;
use serde::Serialize;

use crate::error_code::{Error, ErrorCode};

/// The JSON text of a `T`. Only serialising a `T` makes one.
#[derive(Debug)]
pub struct JsonText<T> {
    text: Arc<str>,
    schema: PhantomData<fn() -> T>,
}

impl<T: Serialize> JsonText<T> {
    /// Serialises the value.
    ///
    /// # Panics
    ///
    /// The value has a map whose keys are not strings. No type of the contract has one.
    #[must_use]
    pub fn of(value: &T) -> Self {
        let text = serde_json::to_string(value).expect("a type of the contract is always JSON");
        Self { text: text.into(), schema: PhantomData }
    }
}

impl<T> JsonText<T> {
    /// The same text, without a copy of its bytes.
    #[must_use]
    pub fn share(&self) -> Arc<str> {
        Arc::clone(&self.text)
    }
}

/// What a 200 may hold: a type that the document describes.
pub trait Content: JsonSchema + Serialize + Send + Sync + 'static {}

impl<T: JsonSchema + Serialize + Send + Sync + 'static> Content for T {}

/// A finished response of an operation whose 200 is a `T`.
pub struct Answer<T> {
    response: Response<Body>,
    schema: PhantomData<fn() -> T>,
}

impl<T: Content> Answer<T> {
    /// A 200 with that text. `permit` is dropped when the socket has taken the last byte of it, or
    /// when the connection has ended. hyper drops the body itself earlier, so `permit` is kept
    /// beside the bytes. In HTTP/1.1 over TLS hyper copies the bytes, because Dropshot's connection
    /// takes no vectored writes, and in HTTP/2 the crate h2 copies short ones: there `permit` is
    /// dropped at once.
    #[must_use]
    pub fn ok(text: JsonText<T>, permit: impl Send + Sync + 'static) -> Self {
        let bytes = Bytes::from_owner(Unsent { text: text.text, _permit: permit });
        Self::json(Self::STATUS_CODE, Body::wrap(Full::new(bytes)))
    }

    /// A refusal, with the one status that the contract has for it, and its `Retry-After`.
    ///
    /// # Panics
    ///
    /// Never: strings and integers are always JSON.
    #[must_use]
    pub fn refusal(code: ErrorCode, message: String) -> Self {
        let error = Error { error: code.number().into(), message };
        let body = serde_json::to_vec(&error).expect("strings and integers are always JSON");
        let mut answer = Self::json(error.status_code().as_status(), Body::from(body));
        if let Some(seconds) = code.retry_after() {
            answer.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        answer
    }

    /// Its status.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.response.status()
    }

    /// Its headers.
    pub fn headers_mut(&mut self) -> &mut HeaderMap {
        self.response.headers_mut()
    }

    fn json(status: StatusCode, body: Body) -> Self {
        let mut response = Response::new(body);
        *response.status_mut() = status;
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(CONTENT_TYPE, json);
        Self { response, schema: PhantomData }
    }
}

/// The bytes of a 200, and the permit that is kept until they are sent.
struct Unsent<H> {
    text: Arc<str>,
    _permit: H,
}

impl<H> AsRef<[u8]> for Unsent<H> {
    fn as_ref(&self) -> &[u8] {
        self.text.as_bytes()
    }
}

/// What the document says of the answer.
impl<T: Content> HttpCodedResponse for Answer<T> {
    type Body = T;
    const STATUS_CODE: StatusCode = StatusCode::OK;
    /// [`crate::document`] names the type instead.
    const DESCRIPTION: &'static str = "successful operation";
}

impl<T> From<Answer<T>> for Result<Response<Body>, HttpError> {
    fn from(answer: Answer<T>) -> Self {
        Ok(answer.response)
    }
}
