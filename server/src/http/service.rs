//! What the operations need between requests, and the API trait that hands requests to them.

use std::num::NonZeroU32;
use std::sync::Arc;

use dropshot::RequestContext;
use plant_store_api::answer::Answer;
use plant_store_api::api::PlantStoreApi;
use plant_store_api::error_code::Error;
use plant_store_api::request::Unread;
use plant_store_api::types::{NewPlant, Plant};
use plant_store_listener::connections::Connections;
use plant_store_store::GroupCommit;
use slog::Logger;

use crate::http::accepted_tokens::AcceptedTokens;
use crate::http::body::BodyLimits;
use crate::http::create_plant::create_plant;
use crate::http::metrics::RequestMetrics;
use crate::http::permits::Permits;

/// The context of every request.
pub struct Service {
    pub tokens: AcceptedTokens,
    pub plants: GroupCommit,
    /// One for each create that is in the service.
    pub permits: Permits,
    pub bodies: BodyLimits,
    pub connections: Arc<Connections>,
    /// Where the access records go.
    pub log: Logger,
    pub metrics: RequestMetrics,
}

impl Service {
    /// A service over that store, which accepts those tokens, has `max_creates` permits for creates,
    /// logs each request to `log` and registers its metrics.
    pub fn new(
        tokens: AcceptedTokens,
        plants: GroupCommit,
        max_creates: NonZeroU32,
        bodies: BodyLimits,
        log: Logger,
    ) -> Self {
        Self {
            tokens,
            plants,
            permits: Permits::new(max_creates),
            bodies,
            connections: Arc::new(Connections::register()),
            log,
            metrics: RequestMetrics::register(),
        }
    }
}

/// The implementation of the API trait. Dropshot needs only the type, so it has no value.
pub enum PlantStore {}

impl PlantStoreApi for PlantStore {
    type Context = Arc<Service>;

    fn create_plant(
        rqctx: RequestContext<Arc<Service>>,
        request: Unread<NewPlant>,
    ) -> impl Future<Output = Result<Answer<Plant>, Error>> + Send {
        create_plant(rqctx, request)
    }
}
