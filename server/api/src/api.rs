//! The contract: the operations, declared as a Dropshot API trait.
//!
//! Dropshot generates the OpenAPI document from this trait and [`crate::types`], and
//! [`crate::document`] completes it. The doc comment of an operation becomes its description in the
//! published document, so write it for the readers of that document. After a change here, run
//! `cargo xtask generate` to update `openapi/` and `client/`.

use dropshot::{EndpointTagPolicy, RequestContext};

use crate::answer::Answer;
use crate::error_code::Error;
use crate::request::UnreadRequest;
use crate::types::{NewPlant, Plant};

/// The API of the service. The document is generated from this trait alone, without a server.
#[dropshot::api_description {
    tag_config = {
        policy = EndpointTagPolicy::ExactlyOne,
        tags = { "plants" = { description = "The plants in the store." } },
    },
}]
pub trait PlantStoreApi {
    /// The state that the implementation shares between requests.
    type Context;

    /// Create a plant
    ///
    /// Creates a new plant in the store.
    ///
    /// The response is sent once the plant is durable. The operation is idempotent: if the same
    /// plant is sent again, the response is 200 again. A different plant with the same `id` is
    /// refused with `error` 409, and the first plant stays unchanged. After `error` 500 or 503 the
    /// plant may or may not be stored: send the same request again.
    #[endpoint {
        method = POST,
        path = "/plants",
        tags = ["plants"],
    }]
    async fn create_plant(
        rqctx: RequestContext<Self::Context>,
        request: UnreadRequest<NewPlant>,
    ) -> Result<Answer<Plant>, Error>;
}
