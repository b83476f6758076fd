//! The implementation of the API trait: what each operation does.
//!
//! `POST /plants` creates a plant. Its steps, in this order. [`respond`] takes the first one for
//! every operation. The head alone decides the first four, before a byte of the body is read:
//!
//! | step | else `error` |
//! | --- | --- |
//! | a bearer token that is accepted | 401, or 503 if the tokens are not known |
//! | the rate of the token | 429 |
//! | the media type | 415 |
//! | a permit for the create | 503 |
//! | the body, within its limits | 400, 408, 413 |
//! | the body is a NewPlant | 400 |
//! | the token again, which may be revoked by now | 401, 503 |
//! | the store | 409, 500, 503 |
//!
//! Nothing here knows which engine keeps the plants.

use std::sync::Arc;

use dropshot::RequestContext;
use plant_store_api::answer::{Answer, JsonText};
use plant_store_api::api::PlantStoreApi;
use plant_store_api::error_code::Error;
use plant_store_api::request::Unread;
use plant_store_api::types::{NewPlant, Plant};
use plant_store_store::{Guard, Outcome, Row};

use crate::http::head::require_json;
use crate::http::known_tokens::KnownToken;
use crate::http::refusal::Refusal;
use crate::http::request::{Request, respond};
use crate::http::service::Service;

/// The implementation of the API trait. Dropshot needs only the type, so it has no value.
pub enum PlantStore {}

impl PlantStoreApi for PlantStore {
    type Context = Arc<Service>;

    fn create_plant(
        context: RequestContext<Arc<Service>>,
        request: Unread<NewPlant>,
    ) -> impl Future<Output = Result<Answer<Plant>, Error>> + Send {
        respond(context, request, create)
    }
}

/// A create is committed once it is queued, whether or not the client waits for the answer, so this
/// future may be dropped at any point.
async fn create(
    service: &Service,
    request: &mut Request<NewPlant>,
    token: Arc<KnownToken>,
) -> Result<Answer<Plant>, Refusal> {
    token.check_rate()?;
    require_json(&request.headers)?;
    // Given back when the client has taken the whole answer.
    let permit: Guard = Arc::new(service.permits.take(&token.permits)?);

    let body = request.receive(&service.bodies).await?;
    let (id, plant) = request.parse(&body)?.into_parts();
    drop(body);
    service.tokens.check_still_accepted(&token)?;

    let text = JsonText::of(&plant);
    let row = Row { id, json: text.share() };
    match service.commits.create(row, Arc::clone(&permit)).await? {
        Outcome::Created | Outcome::Repeated => Ok(Answer::ok(text, permit)),
        Outcome::Conflict => Err(Refusal::Conflict { id }),
    }
}
