//! The contract: one operation, as a trait, with what Dropshot gives to it and takes from it.
//!
//! Dropshot turns this trait and [`crate::types`] into the OpenAPI document
//! ([`crate::document`] completes it). The doc comment on an operation is its description
//! there: write it for the readers of the published document. After a change here,
//! `cargo xtask generate` writes `openapi/` and `client/`.

use dropshot::{EndpointTagPolicy, RequestContext};

use crate::answer::Answer;
use crate::error_code::Error;
use crate::request::Unread;
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
    /// and leaves the first plant as it is. After `error` 500 and 503 the plant may be stored or
    /// not: send it again, as it is.
    #[endpoint {
        method = POST,
        path = "/plants",
        tags = ["plants"],
    }]
    async fn create_plant(
        rqctx: RequestContext<Self::Context>,
        request: Unread<NewPlant>,
    ) -> Result<Answer<Plant>, Error>;
}
