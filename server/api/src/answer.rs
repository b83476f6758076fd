//! The response of an operation: a 200 with the type that the document declares, or an error
//! response.
//!
//! Among Dropshot's own response types, only `HttpError` can set headers on an error, and its body
//! is not the `Error` of the contract. The other types would serialize a plant a second time, after
//! it was serialized for the store. [`Answer`] has the same description in the document as they do.
//!
//! Nothing here knows why a request is refused.

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

/// The JSON text of a `T`. It can only be created by serializing a `T`.
#[derive(Debug)]
pub struct JsonText<T> {
    text: Arc<str>,
    schema: PhantomData<fn() -> T>,
}

impl<T: Serialize> JsonText<T> {
    /// Serializes the value.
    ///
    /// # Panics
    ///
    /// Panics if the value contains a map whose keys are not strings. No type of the contract
    /// contains one.
    #[must_use]
    pub fn new(value: &T) -> Self {
        let text = serde_json::to_string(value).expect("a type of the contract is always JSON");
        Self { text: text.into(), schema: PhantomData }
    }
}

impl<T> JsonText<T> {
    /// Returns the text without copying its bytes.
    #[must_use]
    pub fn share(&self) -> Arc<str> {
        Arc::clone(&self.text)
    }
}

/// A type that may be the body of a 200: the document can describe it.
pub trait Content: JsonSchema + Serialize + Send + Sync + 'static {}

impl<T: JsonSchema + Serialize + Send + Sync + 'static> Content for T {}

/// A complete response of an operation whose 200 contains a `T`.
pub struct Answer<T> {
    response: Response<Body>,
    schema: PhantomData<fn() -> T>,
}

impl<T: Content> Answer<T> {
    /// Creates a 200 whose body is `text`.
    ///
    /// `permit` is dropped when the last byte of the text has been written to the socket, or when
    /// the connection has ended. hyper drops the body itself earlier, so `permit` is stored next to
    /// the bytes. In two cases `permit` is dropped immediately, because the bytes are copied: in
    /// HTTP/1.1 over TLS by hyper, because Dropshot's connection does not support vectored writes,
    /// and in HTTP/2 by the crate h2, if the body is short.
    #[must_use]
    pub fn ok(text: JsonText<T>, permit: impl Send + Sync + 'static) -> Self {
        let bytes = Bytes::from_owner(GuardedText { text: text.text, _permit: permit });
        Self::json(Self::STATUS_CODE, Body::wrap(Full::new(bytes)))
    }

    /// Creates an error response: status 400, an [`Error`] body and, if `code` has one, the
    /// `Retry-After` header.
    ///
    /// # Panics
    ///
    /// Never panics: strings and integers are always valid JSON.
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

    /// Returns the status of the response.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.response.status()
    }

    /// Returns the headers of the response.
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

/// The body of a 200, and the permit that is held until the body has been sent.
struct GuardedText<P> {
    text: Arc<str>,
    _permit: P,
}

impl<P> AsRef<[u8]> for GuardedText<P> {
    fn as_ref(&self) -> &[u8] {
        self.text.as_bytes()
    }
}

/// The description of the response in the document.
impl<T: Content> HttpCodedResponse for Answer<T> {
    type Body = T;
    const STATUS_CODE: StatusCode = StatusCode::OK;
    /// [`crate::document`] replaces this text with the name of the type.
    const DESCRIPTION: &'static str = "successful operation";
}

impl<T> From<Answer<T>> for Result<Response<Body>, HttpError> {
    fn from(answer: Answer<T>) -> Self {
        Ok(answer.response)
    }
}
