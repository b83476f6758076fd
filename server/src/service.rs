//! The operation, behind the API trait: a request's journey, in its order.
//!
//! Credentials first; only then a byte of the body; only then the store. Nothing here knows the
//! wire format of a refusal, or which engine keeps the plants.

use std::sync::Arc;
use std::time::Instant;

use dropshot::RequestContext;
use slog::{Logger, info};

use crate::accepted::AcceptedTokens;
use crate::answer::Answer;
use crate::api::{Error, NewPlant, Plant, PlantStoreApi};
use crate::credentials;
use crate::log::Access;
use crate::metrics::Metrics;
use crate::refusal::Refusal;
use crate::request::{BodyLimits, PlantRequest};
use crate::store::{CreateError, GroupCommit};

/// What the operation needs between requests.
pub struct Service {
    /// Who may create plants.
    pub accepted: AcceptedTokens,
    /// Where plants are kept.
    pub plants: GroupCommit,
    /// What a body may cost.
    pub body: BodyLimits,
    /// Where the access log goes: a record a request, and never a plant's content in it.
    pub log: Logger,
    /// Where requests are counted.
    pub metrics: Arc<Metrics>,
}

/// The API trait's implementation: Dropshot names it by its type alone.
pub enum PlantStore {}

impl PlantStoreApi for PlantStore {
    type Context = Service;

    async fn create_plant(
        rqctx: RequestContext<Service>,
        mut request: PlantRequest,
    ) -> Result<Answer, Error> {
        let started = Instant::now();
        let service = rqctx.context();
        let (token, plant) = service.receive(&mut request).await;
        let ends_connection = request.ends_connection();
        // Nobody needs its head while the plant waits for the disk.
        drop(request);
        let outcome = match plant {
            Ok(plant) => service.create(plant).await,
            Err(refusal) => Err(refusal),
        };
        let mut answer = Answer::from(&outcome);
        if ends_connection {
            answer = answer.closing_connection();
        }
        let error = outcome.err().map(|refusal| refusal.error());
        let latency = started.elapsed();
        service.metrics.answered(error, latency);
        info!(service.log, "request completed"; Access {
            request_id: &rqctx.request_id,
            method: rqctx.request.method(),
            status: answer.status(),
            error,
            token: token.as_deref(),
            latency,
        });
        Ok(answer)
    }
}

impl Service {
    /// The name of the accepted token, and the plant, which is not read without one.
    async fn receive(
        &self,
        request: &mut PlantRequest,
    ) -> (Option<Arc<str>>, Result<NewPlant, Refusal>) {
        match self.authenticate(request) {
            Ok(token) => (Some(token), request.read(self.body).await),
            Err(refusal) => (None, Err(refusal)),
        }
    }

    /// The name of the token that the request carries.
    fn authenticate(&self, request: &PlantRequest) -> Result<Arc<str>, Refusal> {
        let token = credentials::bearer_token(request.headers())?;
        self.accepted.name_of(&token).ok_or(Refusal::TokenNotAccepted)
    }

    /// Once a create is queued it is committed, whether or not the client waits for the answer:
    /// that is why this future may be dropped at any point.
    async fn create(&self, plant: NewPlant) -> Result<Plant, Refusal> {
        let id = plant.id;
        match self.plants.create(plant).await {
            Ok(plant) => Ok(plant.into()),
            Err(CreateError::Conflict) => Err(Refusal::Conflict { id }),
            Err(CreateError::QueueFull) => Err(Refusal::Overload),
            Err(CreateError::Unavailable) => Err(Refusal::StoreUnavailable),
            Err(CreateError::Fault) => Err(Refusal::Fault),
        }
    }
}
