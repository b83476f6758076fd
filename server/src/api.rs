//! The contract and the behavior of each operation: the API trait, and its implementation.
//!
//! Dropshot generates the OpenAPI document from this trait and [`crate::types`]. The doc comment of
//! an operation becomes its description in the published document, so write it for the readers of
//! that document. After a change here, run `cargo xtask generate` to update `openapi/` and
//! `client/`.

use dropshot::{EndpointTagPolicy, RequestContext, TypedBody};
use groundwork::{Answer, Context, Error, UnreadRequest, respond};

use crate::types::{NewPlant, Plant};

/// The API of the service.
#[dropshot::api_description {
    tag_config = {
        policy = EndpointTagPolicy::ExactlyOne,
        tags = { "plants" = { description = "The plants in the store." } },
    },
}]
pub trait PlantStoreApi {
    /// The state that requests share.
    type Context;

    /// Create a plant
    ///
    /// Creates a new plant in the store.
    ///
    /// The response is sent once the plant is durable. The operation is idempotent: if the same
    /// plant is sent again, the response is 200 again. A different plant with the same `id` is
    /// refused with `error` 409, and the first plant stays unchanged. After `error` 500 or 503, or
    /// if there is no response, the plant may or may not be stored: send the same request again.
    #[endpoint { method = POST, path = "/plants", tags = ["plants"] }]
    async fn create_plant(
        context: RequestContext<Self::Context>,
        request: UnreadRequest<TypedBody<NewPlant>>,
    ) -> Result<Answer<Plant>, Error>;
}

/// The implementation of the API trait. Dropshot only uses the type, so it has no values.
pub enum PlantStore {}

impl PlantStoreApi for PlantStore {
    type Context = Context;

    async fn create_plant(
        context: RequestContext<Context>,
        request: UnreadRequest<TypedBody<NewPlant>>,
    ) -> Result<Answer<Plant>, Error> {
        respond(context, request, async |new_plant, request| {
            let (id, plant) = new_plant.into_parts();
            request.commit(id, &plant).await
        })
        .await
    }
}
