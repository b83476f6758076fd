//! The operation, behind the API trait: what happens to a request, step by step.
//!
//! First the route and the head, then the credentials, then the body, then the store. Nothing here
//! knows the wire format of a refusal, or which engine keeps the plants.

use std::sync::Arc;
use std::time::Instant;

use dropshot::{RequestContext, RequestInfo};
use http::request::Parts;
use http::{HeaderMap, Request};
use slog::{Logger, info};

use crate::http::accepted_tokens::{Accepted, AcceptedTokens, NotAccepted};
use crate::http::access::{Access, Misrouted};
use crate::http::answer::Answer;
use crate::http::api::PlantStoreApi;
use crate::http::bodies::{Bodies, Reservation};
use crate::http::credentials;
use crate::http::door;
use crate::http::metrics::RequestMetrics;
use crate::http::rates::Rate;
use crate::http::refusal::Refusal;
use crate::http::request::{PlantBody, PlantRequest, pause};
use crate::listener::connections::Connections;
use crate::log::STRANGER;
use crate::store::{CreateError, GroupCommit};
use crate::types::{Error, NewPlant, Plant};

/// What the operation needs between requests.
pub struct Service {
    accepted: AcceptedTokens,
    plants: GroupCommit,
    pub(super) bodies: Bodies,
    pub(super) connections: Arc<Connections>,
    /// Where the access records go.
    pub(super) log: Logger,
    metrics: RequestMetrics,
}

/// The implementation of the API trait. Dropshot needs only the type, so it has no value.
pub(super) enum PlantStore {}

impl PlantStoreApi for PlantStore {
    type Context = Service;

    async fn create_plant(
        mut rqctx: RequestContext<Service>,
        request: PlantRequest,
    ) -> Result<Answer, Error> {
        let started = Instant::now();
        let (head, mut body) = request.into_parts();
        let remote_addr = rqctx.request.remote_addr();
        // Dropshot's copy of the head takes memory until the answer, and nothing needs it.
        rqctx.request = RequestInfo::new(&Request::new(()), remote_addr);
        let service = rqctx.context();
        let _in_flight = service.connections.request(remote_addr);
        let request_id = &rqctx.request_id;
        if let Err(refusal) = door::check_route(&head) {
            let misrouted = Misrouted { request_id, remote_addr, head: &head, refusal: &refusal };
            info!(service.log, #STRANGER, "request completed"; misrouted);
            body.drop_what_has_come();
            give_way().await;
            let answer = Answer::not_for_us(refusal, request_id);
            return Ok(if body.is_unread() { answer.closing_connection() } else { answer });
        }
        let method = head.method.clone();
        let (token, plant) = service.receive(head, &mut body).await;
        let outcome = match plant {
            Ok((plant, reserved)) => service.create(plant, reserved).await,
            Err(refusal) => Err(refusal),
        };
        let mut answer = Answer::from(&outcome);
        let refusal = outcome.err();
        if refusal.is_some() {
            body.drop_what_has_come();
        }
        if body.is_unread() || refusal.as_ref().is_some_and(Refusal::ends_connection) {
            answer = answer.closing_connection();
        }
        let error = refusal.as_ref().map(Refusal::code);
        let latency = started.elapsed();
        service.metrics.answered(error, latency);
        let access = Access {
            request_id,
            remote_addr,
            method: &method,
            error,
            cause: refusal.as_ref().and_then(Refusal::cause),
            token: token.as_ref().map(|it| it.token.name.as_str()),
            latency,
        };
        match token {
            Some(_) => info!(service.log, "request completed"; access),
            None => info!(service.log, #STRANGER, "request completed"; access),
        }
        Ok(answer)
    }
}

impl Service {
    /// A service over that store, which accepts those tokens, logs each request to `log` and
    /// registers its metrics.
    #[must_use]
    pub fn new(accepted: AcceptedTokens, plants: GroupCommit, bodies: Bodies, log: Logger) -> Self {
        let (connections, metrics) =
            (Arc::new(Connections::register()), RequestMetrics::register());
        Self { accepted, plants, bodies, connections, log, metrics }
    }

    /// Its connections.
    #[must_use]
    pub fn connections(&self) -> Arc<Connections> {
        Arc::clone(&self.connections)
    }

    /// The accepted token, and the plant. Without an accepted token no plant is read.
    async fn receive(
        &self,
        head: Parts,
        body: &mut PlantBody,
    ) -> (Option<Arc<Accepted>>, Result<(NewPlant, Reservation), Refusal>) {
        let token = match door::check_head(&head).and_then(|()| self.authenticate(&head.headers)) {
            Ok(token) => token,
            Err(refusal) => {
                give_way().await;
                return (None, Err(refusal));
            }
        };
        let plant = match token.rate.as_ref().map_or(Ok(()), Rate::check) {
            Ok(()) => body.read(head, &self.bodies).await,
            Err(refusal) => {
                pause(head, &self.bodies).await;
                Err(refusal)
            }
        };
        (Some(token), plant)
    }

    /// The accepted token that these headers carry.
    fn authenticate(&self, headers: &HeaderMap) -> Result<Arc<Accepted>, Refusal> {
        let token = credentials::bearer_token(headers)?;
        self.accepted.find(&token).map_err(|why| match why {
            NotAccepted::Refused => Refusal::TokenNotAccepted,
            NotAccepted::NotKnown => Refusal::StoreUnavailable,
        })
    }

    /// A queued create is committed whether or not the client waits for the answer, so this future
    /// may be dropped at any point.
    async fn create(
        &self,
        plant: NewPlant,
        reserved: Reservation,
    ) -> Result<(Plant, Arc<Reservation>), Refusal> {
        let (id, reserved) = (plant.id, Arc::new(reserved));
        match self.plants.create(plant, Arc::clone(&reserved) as _).await {
            Ok(plant) => Ok((plant.into(), reserved)),
            Err(CreateError::Conflict) => Err(Refusal::Conflict { id }),
            Err(CreateError::QueueFull) => Err(Refusal::Overload),
            Err(CreateError::Unavailable) => Err(Refusal::StoreUnavailable),
            Err(CreateError::Fault(cause)) => Err(Refusal::Fault { cause }),
        }
    }
}

/// Ends the turn of this connection before an answer that waited for nothing. Otherwise hyper would
/// answer up to 16 pipelined requests of one connection before the others have their turn.
async fn give_way() {
    tokio::task::yield_now().await;
}
