//! The API trait: hands each request to its operation.

use std::sync::Arc;

use dropshot::RequestContext;
use plant_store_api::answer::Answer;
use plant_store_api::api::PlantStoreApi;
use plant_store_api::error_code::Error;
use plant_store_api::request::Unread;
use plant_store_api::types::{NewPlant, Plant};

use crate::http::create_plant::create_plant;
use crate::http::request::respond;
use crate::http::service::Service;

/// The implementation of the API trait. Dropshot needs only the type, so it has no value.
pub enum PlantStore {}

impl PlantStoreApi for PlantStore {
    type Context = Arc<Service>;

    async fn create_plant(
        context: RequestContext<Arc<Service>>,
        request: Unread<NewPlant>,
    ) -> Result<Answer<Plant>, Error> {
        respond(context, request, create_plant).await
    }
}
