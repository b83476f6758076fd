//! The response of an operation: a 200 with the type that the document declares, or an error
//! response.
//!
//! Among Dropshot's own response types, only `HttpError` can set headers on an error, and its body
//! is not the `Error` of the document. The other types would serialize a resource a second time,
//! after it was serialized for the store. [`Answer`] has the same description in the document as
//! they do.
//!
//! Nothing here decides whether a request is refused.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use bytes::Bytes;
use dropshot::{Body, HttpCodedResponse, HttpError};
use groundwork_store::Guard;
use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Response, StatusCode};
use http_body_util::Full;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, ErrorCode, Refusal};
use crate::service::Service;

/// The JSON text of a `T`. It can only be created from a `T`, or from a stored text that is one.
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
    /// Panics if the value contains a map whose keys cannot be strings. No type that the document
    /// can describe contains one.
    #[must_use]
    pub fn new(value: &T) -> Self {
        let text = serde_json::to_string(value).expect("a type of the document is always JSON");
        Self { text: text.into(), schema: PhantomData }
    }
}

impl<T: DeserializeOwned> JsonText<T> {
    /// Returns whether a stored text is a `T`. serde alone would also accept an array.
    #[must_use]
    pub fn is_valid(text: &str) -> bool {
        text.starts_with('{') && serde_json::from_str::<T>(text).is_ok()
    }

    /// Returns a stored text if it is a `T`.
    pub(crate) fn stored(text: Arc<str>) -> Option<Self> {
        Self::is_valid(&text).then_some(Self { text, schema: PhantomData })
    }
}

impl<T> JsonText<T> {
    /// Returns the text without copying its bytes.
    pub(crate) fn share(&self) -> Arc<str> {
        Arc::clone(&self.text)
    }
}

impl<T> fmt::Display for JsonText<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
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
    pub(crate) fn ok(text: JsonText<T>, permit: Guard) -> Self {
        let bytes = Bytes::from_owner(GuardedText { text: text.text, _permit: permit });
        Self::json(Self::STATUS_CODE, Body::wrap(Full::new(bytes)))
    }

    /// Creates an error response: the status that the service has chosen, and an [`Error`] body. It
    /// has a `Retry-After` header exactly if the same request may be sent again, and a challenge
    /// (RFC 6750, section 3) if the error is 401.
    pub(crate) fn refusal(service: &Service, refusal: &Refusal) -> Self {
        let Refusal { code, message, lacks_token, .. } = refusal;
        let error = Error { error: code.number().into(), message: message.to_string() };
        let body = serde_json::to_vec(&error).expect("strings and integers are always JSON");
        let mut answer = Self::json(service.refusal_status.of(*code), Body::from(body));
        let headers = answer.response.headers_mut();
        if let Some(seconds) = code.retry_after() {
            headers.insert(RETRY_AFTER, seconds.into());
        }
        if *code == ErrorCode::UNAUTHORIZED {
            let error = if *lacks_token { "" } else { r#", error="invalid_token""# };
            let realm = service.names.program;
            let challenge = format!(r#"Bearer realm="{realm}"{error}"#);
            let challenge = challenge.try_into().expect("the realm is ASCII");
            headers.insert(WWW_AUTHENTICATE, challenge);
        }
        answer
    }

    /// Returns the status of the response.
    pub(crate) fn status(&self) -> StatusCode {
        self.response.status()
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
struct GuardedText {
    text: Arc<str>,
    _permit: Guard,
}

impl AsRef<[u8]> for GuardedText {
    fn as_ref(&self) -> &[u8] {
        self.text.as_bytes()
    }
}

/// The description of the response in the document.
impl<T: Content> HttpCodedResponse for Answer<T> {
    type Body = T;
    const STATUS_CODE: StatusCode = StatusCode::OK;
    /// [`crate::document`] replaces this text with the name of the type, if its schema has one.
    const DESCRIPTION: &'static str = "successful operation";
}

impl<T> From<Answer<T>> for Result<Response<Body>, HttpError> {
    fn from(answer: Answer<T>) -> Self {
        Ok(answer.response)
    }
}
