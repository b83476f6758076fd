//! The state that requests share.

use std::num::NonZeroU32;
use std::sync::Arc;

use plant_store_store::{Engine, GroupCommit};
use slog::Logger;

use crate::http::access_log::AccessLog;
use crate::http::body::BodyLimits;
use crate::http::known_tokens::KnownTokens;
use crate::http::permits::Permits;

/// The Dropshot context of every request.
pub struct Service {
    pub store: Arc<dyn Engine>,
    pub tokens: Arc<KnownTokens>,
    /// The queue of creates that wait for a commit.
    pub commits: GroupCommit,
    /// Each create holds a permit while it is in the service.
    pub permits: Permits,
    pub bodies: BodyLimits,
    pub access_log: Arc<AccessLog>,
}

impl Service {
    /// Creates a service on `store` that accepts `tokens`, admits `max_creates` creates at a time
    /// and logs each request to `log`. Registers the metrics of requests.
    pub fn new(
        store: Arc<dyn Engine>,
        tokens: KnownTokens,
        commits: GroupCommit,
        max_creates: NonZeroU32,
        bodies: BodyLimits,
        log: Logger,
    ) -> Self {
        Self {
            store,
            tokens: Arc::new(tokens),
            commits,
            permits: Permits::new(max_creates),
            bodies,
            access_log: Arc::new(AccessLog::new(log)),
        }
    }
}
