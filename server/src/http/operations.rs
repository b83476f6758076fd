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
//!
//! Nothing here knows which engine stores the plants.

use std::sync::Arc;

use dropshot::RequestContext;
use plant_store_api::answer::{Answer, JsonText};
use plant_store_api::api::PlantStoreApi;
use plant_store_api::error_code::Error;
use plant_store_api::request::UnreadRequest;
use plant_store_api::types::{NewPlant, Plant};
use plant_store_store::{Guard, Outcome, Row};

use crate::http::head::require_json;
use crate::http::known_tokens::KnownToken;
use crate::http::refusal::Refusal;
use crate::http::request::{Request, respond};
use crate::http::service::Service;

/// The implementation of the API trait. Dropshot only uses the type, so it has no values.
pub enum PlantStore {}

impl PlantStoreApi for PlantStore {
    type Context = Arc<Service>;

    fn create_plant(
        context: RequestContext<Arc<Service>>,
        request: UnreadRequest<NewPlant>,
    ) -> impl Future<Output = Result<Answer<Plant>, Error>> + Send {
        respond(context, request, create)
    }
}

/// Creates a plant.
///
/// This future may be dropped at any point: a queued create is committed whether or not the client
/// still waits for the answer.
async fn create(
    service: &Service,
    request: &mut Request<NewPlant>,
    token: Arc<KnownToken>,
) -> Result<Answer<Plant>, Refusal> {
    require_json(&request.headers)?;
    // Released when the whole answer has been written to the socket.
    let permit: Guard = Arc::new(service.permits.acquire(&token.permits)?);

    let body = request.receive(&service.limits).await?;
    let (id, plant) = request.parse(&body)?.into_parts();
    drop(body);
    service.tokens.check_still_accepted(&token)?;

    let text = JsonText::new(&plant);
    let row = Row { id, json: text.share() };
    match service.commits.create(row, Arc::clone(&permit)).await? {
        Outcome::Created | Outcome::Repeated => Ok(Answer::ok(text, permit)),
        Outcome::Conflict => Err(Refusal::Conflict { id }),
    }
}
