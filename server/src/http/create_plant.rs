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

use crate::http::admission::{NotAdmitted, admit, admit_create};
use crate::http::body::RequestBody;
use crate::http::exchange::{Exchange, Success, give_way, hold_back};
use crate::http::permits::Permit;
use crate::http::refusal::Refusal;
use crate::http::service::Service;

/// The operation. It is never an `Err`: a refusal is an [`Answer`], because it has headers.
// Not an `async fn`: its future would hold its parameters, and so the whole head, until the answer.
// The head decides what it can before there is a future.
#[expect(clippy::needless_pass_by_value, reason = "the head is dropped before the body is read")]
pub fn create_plant(
    rqctx: RequestContext<Arc<Service>>,
    request: Unread<NewPlant>,
) -> impl Future<Output = Result<Answer<Plant>, Error>> + Send {
    let head = &rqctx.request;
    let mut exchange = Exchange::begin(&rqctx);
    let mut body = RequestBody::new(head, request);
    let admitted = admit(exchange.route, head, &exchange.service.tokens)
        .and_then(|token| admit_create(head, token, &exchange.service.permits));
    if let Err(NotAdmitted::OtherRoute(refusal)) = &admitted {
        exchange.log_other_route(head, refusal);
    }
    async move {
        let created = match admitted {
            Ok(permit) => {
                exchange.accepted(Arc::clone(&permit.token));
                create(&exchange.service, permit, &mut body).await
            }
            Err(NotAdmitted::Refused { refusal, token }) => {
                exchange.token = token;
                hold_back(&refusal, &body).await;
                Err(refusal)
            }
            Err(NotAdmitted::OtherRoute(refusal)) => {
                give_way(&body).await;
                return Ok(exchange.not_routed(*refusal, body));
            }
        };
        Ok(exchange.finish(created, body))
    }
}

/// Reads the plant and stores it. A queued create is committed whether or not the client waits for
/// the answer, so this future may be dropped at any point.
async fn create(
    service: &Service,
    permit: Permit,
    body: &mut RequestBody<NewPlant>,
) -> Result<Success<Plant, Guard>, Refusal> {
    let (id, plant) = body.read(&service.bodies).await?.into_parts();
    let text = JsonText::of(&plant);
    // The token may have been revoked while the body came.
    service.tokens.find(&permit.token.stored.digest)?.check_expiry()?;
    let permit: Guard = Arc::new(permit);
    let row = Row { id, plant: text.share() };
    match service.plants.create(row, Arc::clone(&permit)).await {
        Ok(Outcome::Created | Outcome::Repeated) => Ok(Success { text, held: permit }),
        Ok(Outcome::Conflict) => Err(Refusal::Conflict { id }),
        Err(cause) if cause.may_pass() => Err(Refusal::StoreUnavailable(cause)),
        Err(cause) => Err(Refusal::Fault(cause)),
    }
}

#[cfg(test)]
mod tests;
