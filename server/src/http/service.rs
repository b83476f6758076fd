//! The operation, behind the API trait: a request in a straight line, from its head to its answer.
//!
//! First the head ([`admission`](crate::http::admission)), then the body, then the store, then the
//! [`answer`](crate::http::answer). Nothing here knows which engine keeps the plants.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dropshot::RequestContext;
use futures::FutureExt;
use plant_store_api::api::{Answer, PlantRequest, PlantStoreApi};
use plant_store_api::error_code::Error;
use plant_store_api::types::Plant;
use plant_store_listener::connections::Connections;
use plant_store_listener::requests::InFlight;
use plant_store_store::{GroupCommit, Guard, Outcome, Row};
use slog::{Logger, debug, info};
use tokio::sync::Semaphore;

use crate::http::accepted_tokens::{Accepted, AcceptedTokens};
use crate::http::admission::{NotAdmitted, Place, admit};
use crate::http::answer::{Access, Refusal, RequestMetrics, accept, closing_connection, refuse};
use crate::http::body::{BodyLimits, PlantBody};
use crate::http::strict::{self, Sent};

/// How long the refusal of a create past the rate of its token waits. Otherwise clients that do not
/// wait would keep the service busy with refusals.
const PAUSE: Duration = Duration::from_millis(100);

/// How much of a method or a path a record holds, in characters.
const LONGEST: usize = 200;

/// What the operation needs between requests.
pub struct Service {
    accepted: AcceptedTokens,
    plants: GroupCommit,
    /// One for each create that is in the service.
    places: Arc<Semaphore>,
    bodies: BodyLimits,
    pub connections: Arc<Connections>,
    /// Where the access records go.
    pub log: Logger,
    metrics: RequestMetrics,
}

/// The implementation of the API trait. Dropshot needs only the type, so it has no value.
pub(super) enum PlantStore {}

impl PlantStoreApi for PlantStore {
    type Context = Arc<Service>;

    // Not an `async fn`: its future would hold the whole request, twice, until the answer. The head
    // decides what it can before there is a future.
    fn create_plant(
        rqctx: RequestContext<Arc<Service>>,
        request: PlantRequest,
    ) -> impl Future<Output = Result<Answer, Error>> + Send {
        let started = Instant::now();
        let remote_addr = rqctx.request.remote_addr();
        // The context has a copy of the head, which nothing needs. Dropshot keeps another one.
        let service = Arc::clone(rqctx.context());
        let RequestContext { request_id, .. } = rqctx;
        let mut in_flight = service.connections.request(remote_addr);
        let PlantRequest { head, body } = request;
        let body = PlantBody::new(&head, body);
        let admitted = admit(&head, &service.accepted, &service.places);
        if let Ok(_) | Err(NotAdmitted::Refused { token: Some(_), .. }) = &admitted {
            in_flight.accept();
        }
        if let Err(NotAdmitted::Misrouted(refusal)) = &admitted {
            debug!(service.log, "request completed";
                "req_id" => &request_id, "remote_addr" => %remote_addr,
                "method" => format_args!("{:.LONGEST$}", head.method.as_str()),
                "path" => format_args!("{:.LONGEST$}", head.uri.path()),
                "status" => refusal.status_code.as_u16(), "cause" => &refusal.internal_message);
        }
        let exchange = Exchange { service, request_id, remote_addr, started };
        exchange.answer(admitted, body, in_flight).map(Ok)
    }
}

/// What is kept of a request until its answer, besides its body.
struct Exchange {
    service: Arc<Service>,
    request_id: String,
    remote_addr: SocketAddr,
    started: Instant,
}

impl Exchange {
    #[expect(clippy::manual_async_fn, reason = "its future would hold the arguments twice")]
    fn answer(
        self,
        admitted: Result<Place, NotAdmitted>,
        mut body: PlantBody,
        in_flight: InFlight,
    ) -> impl Future<Output = Answer> + Send {
        async move {
            // An async block takes only what it names.
            let in_flight = in_flight;
            let exchange = &self;
            let service = &exchange.service;
            let mut ignored = Vec::new();
            let (stored, token) = match admitted {
                Ok(place) => {
                    let token = Arc::clone(&place.token);
                    (service.create(place, &mut body, &mut ignored).await, Some(token))
                }
                Err(NotAdmitted::Refused { refusal, token }) => {
                    service.hold_back(&refusal, token.as_ref(), &body).await;
                    (Err(refusal), token)
                }
                Err(NotAdmitted::Misrouted(refusal)) => {
                    body.drop_what_has_come();
                    give_way(&body).await;
                    // As Dropshot gives it: the contract says nothing of such requests.
                    let answer = Answer(refusal.into_response(&exchange.request_id));
                    return if body.is_unread() { closing_connection(answer) } else { answer };
                }
            };
            let (mut answer, refusal) = match stored {
                Ok((plant, place)) => (accept(plant, place, in_flight.answer()), None),
                Err(refusal) => (refuse(&refusal), Some(refusal)),
            };
            if refusal.is_some() {
                body.drop_what_has_come();
            }
            if body.is_unread() || refusal.as_ref().is_some_and(Refusal::ends_connection) {
                answer = closing_connection(answer);
            }
            let latency = exchange.started.elapsed();
            service.metrics.answered(refusal.as_ref().map(Refusal::code), latency);
            let access = Access {
                request_id: &exchange.request_id,
                remote_addr: exchange.remote_addr,
                refusal: refusal.as_ref(),
                token: token.as_ref().map(|it| it.token.name.as_str()),
                ignored: &ignored,
                latency,
            };
            // Those of strangers could fill the disk that holds the log.
            match token {
                Some(_) => info!(service.log, "request completed"; access),
                None => debug!(service.log, "request completed"; access),
            }
            answer
        }
    }
}

impl Service {
    /// A service over that store, which accepts those tokens, has so many places for creates, logs each
    /// request to `log` and registers its metrics.
    pub fn new(
        accepted: AcceptedTokens,
        plants: GroupCommit,
        places: usize,
        bodies: BodyLimits,
        log: Logger,
    ) -> Self {
        let places = Arc::new(Semaphore::new(places.min(Semaphore::MAX_PERMITS)));
        let (connections, metrics) =
            (Arc::new(Connections::register()), RequestMetrics::register());
        Self { accepted, plants, places, bodies, connections, log, metrics }
    }

    /// Reads the plant and stores it; `ignored` gets the names of members that were ignored. A queued
    /// create is committed whether or not the client waits for the answer, so this future may be
    /// dropped at any point.
    async fn create(
        &self,
        place: Place,
        body: &mut PlantBody,
        ignored: &mut Vec<String>,
    ) -> Result<(Arc<str>, Guard), Refusal> {
        let body = body.read(&self.bodies).await?;
        let Sent { id, plant, ignored: names } = strict::read::<Plant>(&body)?;
        *ignored = names;
        let plant: Arc<str> = serde_json::to_string(&plant).expect("a plant is always JSON").into();
        // The token may have been revoked while the body came.
        self.accepted.find(&place.token.token.digest)?.check_expiry()?;
        let place: Guard = Arc::new(place);
        let row = Row { id, plant: Arc::clone(&plant) };
        match self.plants.create(row, Arc::clone(&place)).await {
            Ok(Outcome::Created | Outcome::Repeated) => Ok((plant, place)),
            Ok(Outcome::Conflict) => Err(Refusal::Conflict { id }),
            Err(cause) if cause.may_pass() => Err(Refusal::StoreUnavailable),
            Err(cause) => Err(Refusal::Fault { cause: cause.to_string() }),
        }
    }

    /// Waits before a refusal that the head alone decides. If no place is free, there is no pause for a
    /// create past its rate.
    async fn hold_back(&self, refusal: &Refusal, token: Option<&Arc<Accepted>>, body: &PlantBody) {
        let (Refusal::TooManyCreates { .. }, Some(token)) = (refusal, token) else {
            return give_way(body).await;
        };
        if let Ok(_place) = Place::take(&self.places, token) {
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// Ends the turn of this connection before an answer that waited for nothing. Otherwise hyper would
/// answer up to 16 pipelined requests of one connection before the others have their turn. A request
/// of HTTP/2 has its own task, which would only keep its memory for longer.
async fn give_way(body: &PlantBody) {
    if body.is_http1() {
        tokio::task::yield_now().await;
    }
}

#[cfg(test)]
mod tests;
