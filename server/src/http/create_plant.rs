//! `POST /plants`: creates a plant.
//!
//! First the head ([`admission`](crate::http::admission)), then the body, then the store, then the
//! answer. Nothing here knows which engine keeps the plants.

use std::sync::Arc;

use dropshot::RequestContext;
use plant_store_api::answer::{Answer, JsonText};
use plant_store_api::error_code::Error;
use plant_store_api::request::Unread;
use plant_store_api::types::{NewPlant, Plant};
use plant_store_store::{Guard, Outcome, Row};

use crate::http::admission::{AdmittedCreate, admit_create};
use crate::http::body::RequestBody;
use crate::http::exchange::{Exchange, Success};
use crate::http::refusal::Refusal;
use crate::http::service::Service;

/// The operation. It is never an `Err`: a refusal is an [`Answer`], because it has headers.
// Not an `async fn`: its future would hold its parameters, and so the whole head, until the answer.
// The head decides what it can before there is a future.
pub fn create_plant(
    rqctx: RequestContext<Arc<Service>>,
    request: Unread<NewPlant>,
) -> impl Future<Output = Result<Answer<Plant>, Error>> + Send {
    let (mut exchange, head) = Exchange::begin(rqctx);
    let mut body = RequestBody::new(&head, request);
    let permits = &exchange.service.permits;
    let admitted = exchange.admit(&head).and_then(|token| admit_create(&head, token, permits));
    async move {
        let create = match admitted {
            Ok(create) => create,
            Err(not_admitted) => {
                exchange.wait_to_turn_away(&not_admitted).await;
                return Ok(exchange.turn_away(not_admitted, body));
            }
        };
        exchange.note(&create.token);
        let stored = read_and_store(&exchange.service, create, &mut body).await;
        Ok(exchange.finish(stored, body))
    }
}

/// Reads the plant and stores it. A queued create is committed whether or not the client waits for
/// the answer, so this future may be dropped at any point.
async fn read_and_store(
    service: &Service,
    create: AdmittedCreate,
    body: &mut RequestBody<NewPlant>,
) -> Result<Success<Plant>, Refusal> {
    let (id, plant) = body.read(&service.bodies).await?.into_parts();
    let text = JsonText::of(&plant);
    // The token may have been revoked while the body came.
    service.tokens.find(&create.token.stored.digest)?.check_expiry()?;
    let permit: Guard = Arc::new(create.permit);
    let row = Row { id, plant: text.share() };
    match service.plants.create(row, Arc::clone(&permit)).await {
        Ok(Outcome::Created | Outcome::Repeated) => Ok(Success { text, permit }),
        Ok(Outcome::Conflict) => Err(Refusal::Conflict { id }),
        Err(cause) if cause.may_pass() => Err(Refusal::StoreUnavailable(cause)),
        Err(cause) => Err(Refusal::Fault(cause)),
    }
}

#[cfg(test)]
mod tests;
