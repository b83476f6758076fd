//! A request whose body is unread.
//!
//! Dropshot's `TypedBody` reads the body before a handler can check the credentials, reads a body
//! over the limit to its end, and takes media types that the contract does not name. So the handler
//! gets the request with its body unread. The document still says `NewPlant`, because the metadata
//! is `TypedBody`'s.

use async_trait::async_trait;
use dropshot::{
    ApiEndpointBodyContentType, Body, ExclusiveExtractor, ExtractorMetadata, HttpError,
    RequestContext, ServerContext, TypedBody,
};
use http::Request;
use http::request::Parts;

use crate::types::NewPlant;

/// The request of the operation.
pub struct PlantRequest {
    /// Its head.
    pub head: Parts,
    /// Its body, of which nobody has read a byte.
    pub body: Body,
}

#[async_trait]
impl ExclusiveExtractor for PlantRequest {
    /// Takes every request as it is.
    async fn from_request<Context: ServerContext>(
        _: &RequestContext<Context>,
        request: Request<Body>,
    ) -> Result<Self, HttpError> {
        let (head, body) = request.into_parts();
        Ok(Self { head, body })
    }

    fn metadata(content_type: ApiEndpointBodyContentType) -> ExtractorMetadata {
        TypedBody::<NewPlant>::metadata(content_type)
    }
}
