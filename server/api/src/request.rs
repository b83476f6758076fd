//! The request of an operation, as Dropshot hands it over: its body is still on the wire.
//!
//! Dropshot's `TypedBody` reads the body before a handler can check the credentials, reads a body
//! over the limit to its end, and takes media types that the contract does not name. [`Unread`] has
//! the same description in the document, and reads nothing. Nothing here may read a body.

use std::marker::PhantomData;

use async_trait::async_trait;
use dropshot::{
    ApiEndpointBodyContentType, Body, ExclusiveExtractor, ExtractorMetadata, HttpError,
    RequestContext, ServerContext, TypedBody,
};
use http::Request;
use http::request::Parts;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

/// A request whose body the document describes as a `T`. Nobody has read a byte of the body, and
/// whoever reads it must read a `T`.
pub struct Unread<T> {
    /// The head.
    pub head: Parts,
    /// The bytes.
    pub body: Body,
    /// Nobody else can make one.
    schema: PhantomData<fn() -> T>,
}

#[async_trait]
impl<T> ExclusiveExtractor for Unread<T>
where
    T: DeserializeOwned + JsonSchema + Send + Sync + 'static,
{
    /// Takes every request as it is.
    async fn from_request<Context: ServerContext>(
        _: &RequestContext<Context>,
        request: Request<Body>,
    ) -> Result<Self, HttpError> {
        let (head, body) = request.into_parts();
        Ok(Self { head, body, schema: PhantomData })
    }

    fn metadata(content_type: ApiEndpointBodyContentType) -> ExtractorMetadata {
        TypedBody::<T>::metadata(content_type)
    }
}
