//! The operation, behind the API trait: what happens to a request, step by step.
//!
//! First the route and the head, then the credentials, then the body, then the store. Nothing here
//! knows the wire format of a refusal, or which engine keeps the plants.

use std::mem;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use dropshot::{Body, HttpError, RequestContext};
use futures::FutureExt;
use futures::future::Either;
use http::request::Parts;
use http::{HeaderMap, Response};
use plant_store_api::answer::Answer;
use plant_store_api::api::PlantStoreApi;
use plant_store_api::request::PlantRequest;
use plant_store_api::types::{Error, NewPlant};
use slog::{Logger, info};

use crate::http::accepted_tokens::{Accepted, AcceptedTokens, NotAccepted};
use crate::http::access::{Access, Misrouted};
use crate::http::answer;
use crate::http::bodies::{Bodies, Create, Reservation};
use crate::http::credentials;
use crate::http::head;
use crate::http::metrics::RequestMetrics;
use crate::http::rates::Rate;
use crate::http::refusal::Refusal;
use crate::http::request::{PlantBody, pause};
use crate::listener::connections::{Connections, InFlight};
use crate::log::STRANGER;
use crate::store::{CreateError, GroupCommit};

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
    type Context = Arc<Service>;

    // Not an `async fn`: its future would hold the whole request, twice, until the answer.
    fn create_plant(
        rqctx: RequestContext<Arc<Service>>,
        request: PlantRequest,
    ) -> impl Future<Output = Result<Answer, Error>> + Send {
        let exchange = Exchange::begin(rqctx);
        let PlantRequest { head, body } = request;
        let body = PlantBody::new(&head, body);
        let answer = match head::check_route(&head) {
            Ok(()) => Either::Left(exchange.create(&head, body)),
            Err(refusal) => Either::Right(exchange.misrouted(&head, body, refusal)),
        };
        answer.map(|response| Ok(Answer(response)))
    }
}

/// What is kept of a request until its answer, besides its body.
struct Exchange {
    service: Arc<Service>,
    request_id: String,
    remote_addr: SocketAddr,
    started: Instant,
    /// Until it is dropped. An async block takes only the fields that it names, so each one takes
    /// the whole exchange.
    _in_flight: InFlight,
}

impl Exchange {
    fn begin(rqctx: RequestContext<Arc<Service>>) -> Self {
        let started = Instant::now();
        let remote_addr = rqctx.request.remote_addr();
        // The context has a copy of the head, which nothing needs. Dropshot keeps another one.
        let service = Arc::clone(rqctx.context());
        let RequestContext { request_id, .. } = rqctx;
        let in_flight = service.connections.request(remote_addr);
        Self { service, request_id, remote_addr, started, _in_flight: in_flight }
    }

    /// A request of the operation. The head decides what it can before there is a future.
    fn create(
        self,
        head: &Parts,
        mut body: PlantBody,
    ) -> impl Future<Output = Response<Body>> + Send + use<> {
        let Admission { token, outcome, size } = self.service.admit(head);
        async move {
            let exchange = &self;
            let service = &exchange.service;
            let create = match outcome {
                Ok(()) => body.read(size, &service.bodies).await,
                Err(refusal) => Err(service.hold_back(refusal, size, &body).await),
            };
            let mut ignored = Vec::new();
            let outcome = match create {
                Ok((mut create, reserved)) => {
                    ignored = mem::take(&mut create.ignored);
                    service.create(create, reserved).await
                }
                Err(refusal) => Err(refusal),
            };
            let (mut response, refusal) = match outcome {
                Ok((plant, reserved)) => (answer::plant(plant, reserved), None),
                Err(refusal) => (answer::refusal(&refusal), Some(refusal)),
            };
            if refusal.is_some() {
                body.drop_what_has_come();
            }
            if body.is_unread() || refusal.as_ref().is_some_and(Refusal::ends_connection) {
                answer::close_connection(&mut response);
            }
            let error = refusal.as_ref().map(Refusal::code);
            let latency = exchange.started.elapsed();
            service.metrics.answered(error, latency);
            let access = Access {
                request_id: &exchange.request_id,
                remote_addr: exchange.remote_addr,
                error,
                cause: refusal.as_ref().and_then(Refusal::cause),
                token: token.as_ref().map(|it| it.token.name.as_str()),
                ignored: &ignored,
                latency,
            };
            match token {
                Some(_) => info!(service.log, "request completed"; access),
                None => info!(service.log, #STRANGER, "request completed"; access),
            }
            response
        }
    }

    /// A request that only Dropshot's router takes for one of the operation.
    fn misrouted(
        self,
        head: &Parts,
        mut body: PlantBody,
        refusal: HttpError,
    ) -> impl Future<Output = Response<Body>> + Send + use<> {
        let (request_id, remote_addr) = (&self.request_id, self.remote_addr);
        let misrouted = Misrouted { request_id, remote_addr, head, refusal: &refusal };
        info!(self.service.log, #STRANGER, "request completed"; misrouted);
        async move {
            let exchange = &self;
            body.drop_what_has_come();
            give_way(&body).await;
            let mut response = refusal.into_response(&exchange.request_id);
            if body.is_unread() {
                answer::close_connection(&mut response);
            }
            response
        }
    }
}

/// What the head decides.
struct Admission {
    /// The accepted token.
    token: Option<Arc<Accepted>>,
    /// Whether the body may be read.
    outcome: Result<(), Refusal>,
    /// What a copy of the head takes, in bytes.
    size: usize,
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

    /// Decides by the head alone whether the body may be read.
    fn admit(&self, head: &Parts) -> Admission {
        let size = head::size(head);
        let token = head::check_framing(head).and_then(|()| self.authenticate(&head.headers));
        match token {
            Ok(token) => {
                let outcome = token.rate.as_ref().map_or(Ok(()), Rate::check);
                let outcome = outcome.and_then(|()| head::check_media_type(&head.headers));
                Admission { token: Some(token), outcome, size }
            }
            Err(refusal) => Admission { token: None, outcome: Err(refusal), size },
        }
    }

    /// Waits before a refusal that the head alone decides.
    async fn hold_back(&self, refusal: Refusal, head: usize, body: &PlantBody) -> Refusal {
        match refusal {
            Refusal::TooManyCreates { .. } => pause(head, &self.bodies).await,
            _ => give_way(body).await,
        }
        refusal
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
        Create { id, plant, .. }: Create,
        reserved: Reservation,
    ) -> Result<(String, Arc<Reservation>), Refusal> {
        let reserved = Arc::new(reserved);
        let json = "a plant is always JSON";
        let plant = NewPlant { id, plant: serde_json::from_str(&plant).expect(json) };
        match self.plants.create(plant, Arc::clone(&reserved) as _).await {
            Ok(created) => Ok((serde_json::to_string(&created.plant).expect(json), reserved)),
            Err(CreateError::Conflict) => Err(Refusal::Conflict { id }),
            Err(CreateError::QueueFull) => Err(Refusal::Overload),
            Err(CreateError::Unavailable) => Err(Refusal::StoreUnavailable),
            Err(CreateError::Fault(cause)) => Err(Refusal::Fault { cause }),
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
