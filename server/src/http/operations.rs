//! The implementation of the API trait: what each operation does.
//!
//! `POST /plants` creates a plant in the steps below. [`respond`] does the first step for every
//! operation. The first three steps need only the head of the request and run before any byte of the
//! body is read.
//!
//! | step | `error` on failure |
//! | --- | --- |
//! | check that the bearer token is accepted | 401, or 503 if the tokens are unavailable |
//! | check the media type | 415 |
//! | acquire a permit for the create | 503 |
//! | receive the body within its limits | 400, 408, 413 |
//! | parse the body as a NewPlant | 400 |
//! | check again that the token is accepted, because it may have been revoked | 401, 503 |
//! | commit the plant to the store | 409, 500, 503 |

use std::sync::Arc;

use dropshot::RequestContext;
use plant_store_api::answer::Answer;
use plant_store_api::api::PlantStoreApi;
use plant_store_api::error_code::Error;
use plant_store_api::request::UnreadRequest;
use plant_store_api::types::{NewPlant, Plant};

use crate::http::Service;
use crate::http::request::respond;

/// The implementation of the API trait. Dropshot only uses the type, so it has no values.
pub enum PlantStore {}

impl PlantStoreApi for PlantStore {
    type Context = Arc<Service>;

    fn create_plant(
        context: RequestContext<Arc<Service>>,
        request: UnreadRequest<NewPlant>,
    ) -> impl Future<Output = Result<Answer<Plant>, Error>> + Send {
        respond(context, request, async |request| {
            let (id, plant) = request.body().await?.into_parts();
            request.commit(id, &plant).await
        })
    }
}
