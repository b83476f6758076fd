//! The contract: one operation, as a trait, with what Dropshot gives to it and takes from it.
//!
//! Dropshot turns this trait and [`crate::types`] into the OpenAPI document
//! ([`crate::document`] completes it). The doc comment on the operation is its description
//! there: write it for the readers of the published document. After a change here,
//! `cargo xtask generate` writes `openapi/` and `client/`.
//!
//! Dropshot's `TypedBody` reads the body before a handler can check the credentials, reads a body
//! over the limit to its end, and takes media types that the contract does not name. Its response
//! types can set no header on a refusal. So the operation gets a [`PlantRequest`] and returns an
//! [`Answer`]; the document describes them as a `NewPlant` and a `Plant`.

use async_trait::async_trait;
use dropshot::{
    ApiEndpointBodyContentType, Body, EndpointTagPolicy, ExclusiveExtractor, ExtractorMetadata,
    HttpCodedResponse, HttpError, RequestContext, ServerContext, TypedBody,
};
use http::request::Parts;
use http::{Request, Response, StatusCode};

use crate::error_code::Error;
use crate::types::{NewPlant, Plant};

/// The one API of the service, which implements it. The document is made from the trait alone,
/// without a server.
#[dropshot::api_description {
    tag_config = {
        policy = EndpointTagPolicy::ExactlyOne,
        tags = { "plants" = { description = "The plants of the store." } },
    },
}]
pub trait PlantStoreApi {
    /// What the implementation keeps between requests.
    type Context;

    /// Create a plant
    ///
    /// Creates a new plant in the store.
    ///
    /// The answer is sent once the plant is durable. The operation is safe to repeat: the same
    /// plant again answers 200 again, anything else under the same `id` is refused with `error` 409
    /// and leaves the first plant as it is. After `error` 500 and 503 the plant may be stored or not:
    /// send it again, as it is.
    #[endpoint {
        method = POST,
        path = "/plants",
        tags = ["plants"],
    }]
    async fn create_plant(
        rqctx: RequestContext<Self::Context>,
        request: PlantRequest,
    ) -> Result<Answer, Error>;
}

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

/// A finished response of the operation: a 200 with a `Plant`, or a 400 with an `Error`.
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
