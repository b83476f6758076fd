//! The operation, behind the API trait: what happens to a request, step by step.
//!
//! Credentials first; only then a byte of the body; only then the store. Nothing here knows the
//! wire format of a refusal, or which engine keeps the plants.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use dropshot::{
    BuildError, ConfigDropshot, HandlerTaskMode, HttpServer, RequestContext, ServerBuilder,
};
use slog::{Logger, info};
use tokio_util::task::TaskTracker;

use crate::http::accepted_tokens::AcceptedTokens;
use crate::http::access::{Access, Misrouted};
use crate::http::answer::Answer;
use crate::http::api::{PlantStoreApi, plant_store_api_mod};
use crate::http::bodies::{Bodies, Room};
use crate::http::credentials;
use crate::http::door;
use crate::http::metrics::RequestMetrics;
use crate::http::refusal::Refusal;
use crate::http::request::PlantRequest;
use crate::log::STRANGER;
use crate::store::{CreateError, GroupCommit};
use crate::types::{Error, NewPlant, Plant};

/// What the operation needs between requests.
pub struct Service {
    accepted: AcceptedTokens,
    plants: GroupCommit,
    bodies: Bodies,
    /// The requests that are not answered yet.
    in_flight: TaskTracker,
    /// Where the access records go.
    log: Logger,
    metrics: RequestMetrics,
}

/// Puts the service behind Dropshot, on that address. `log` is for Dropshot's own records.
///
/// A request runs in its connection's own task and is dropped with it, which saves a task for each
/// request. It is safe, because a queued create is committed whether or not a client waits.
pub fn listen(
    address: SocketAddr,
    service: Service,
    log: &Logger,
) -> Result<HttpServer<Service>, BuildError> {
    let api = plant_store_api_mod::api_description::<PlantStore>()
        .expect("the API trait is a valid API description");
    let config = ConfigDropshot {
        bind_address: address,
        default_handler_task_mode: HandlerTaskMode::CancelOnDisconnect,
        ..ConfigDropshot::default()
    };
    ServerBuilder::new(api, service, log.clone()).config(config).start()
}

/// The API trait's implementation. Dropshot needs only its type.
enum PlantStore {}

impl PlantStoreApi for PlantStore {
    type Context = Service;

    async fn create_plant(
        rqctx: RequestContext<Service>,
        mut request: PlantRequest,
    ) -> Result<Answer, Error> {
        let started = Instant::now();
        let service = rqctx.context();
        let _in_flight = service.in_flight.token();
        if let Err(refusal) = door::check_route(request.head()) {
            let misrouted = Misrouted { rqctx: &rqctx, refusal: &refusal };
            info!(service.log, #STRANGER, "request completed"; misrouted);
            let answer = Answer::not_for_us(refusal, &rqctx.request_id);
            return Ok(if request.is_unread() { answer.closing_connection() } else { answer });
        }
        let (token, plant) = service.receive(&mut request).await;
        let is_unread = request.is_unread();
        // Its head takes memory, and nothing needs it while the plant waits for the fsync.
        drop(request);
        let outcome = match plant {
            Ok((plant, room)) => service.create(plant, room).await,
            Err(refusal) => Err(refusal),
        };
        let mut answer = Answer::from(&outcome);
        let refusal = outcome.err();
        if is_unread || refusal.as_ref().is_some_and(Refusal::ends_connection) {
            answer = answer.closing_connection();
        }
        let error = refusal.as_ref().map(Refusal::code);
        let latency = started.elapsed();
        service.metrics.answered(error, latency);
        let access = Access {
            request_id: &rqctx.request_id,
            remote_addr: rqctx.request.remote_addr(),
            method: rqctx.request.method(),
            error,
            cause: refusal.as_ref().and_then(Refusal::cause),
            token: token.as_deref(),
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
        let (in_flight, metrics) = (TaskTracker::new(), RequestMetrics::register());
        Self { accepted, plants, bodies, in_flight, log, metrics }
    }

    /// The requests that are not answered yet; once it is closed, it can be waited for.
    #[must_use]
    pub fn in_flight(&self) -> TaskTracker {
        self.in_flight.clone()
    }

    /// The name of the accepted token, and the plant. Without an accepted token no plant is read.
    async fn receive(
        &self,
        request: &mut PlantRequest,
    ) -> (Option<Arc<str>>, Result<(NewPlant, Room), Refusal>) {
        match self.authenticate(request) {
            Ok(token) => (Some(token), request.read(&self.bodies).await),
            Err(refusal) => (None, Err(refusal)),
        }
    }

    /// The name of the token that the request carries.
    fn authenticate(&self, request: &PlantRequest) -> Result<Arc<str>, Refusal> {
        let head = request.head();
        if !door::has_valid_host(head) {
            return Err(Refusal::Host);
        }
        if !door::has_valid_transfer_coding(head) {
            return Err(Refusal::TransferCoding);
        }
        let token = credentials::bearer_token(&head.headers)?;
        self.accepted.name_of(&token).ok_or(Refusal::TokenNotAccepted)
    }

    /// A queued create is committed whether or not the client waits for the answer, so this future
    /// may be dropped at any point.
    async fn create(&self, plant: NewPlant, room: Room) -> Result<Plant, Refusal> {
        let id = plant.id;
        match self.plants.create(plant, Arc::new(room)).await {
            Ok(plant) => Ok(plant.into()),
            Err(CreateError::Conflict) => Err(Refusal::Conflict { id }),
            Err(CreateError::QueueFull) => Err(Refusal::Overload),
            Err(CreateError::Unavailable) => Err(Refusal::StoreUnavailable),
            Err(CreateError::Fault(cause)) => Err(Refusal::Fault { cause }),
        }
    }
}
