//! What the operations need between requests.

use std::num::NonZeroU32;
use std::sync::Arc;

use plant_store_store::{Engine, GroupCommit};
use slog::Logger;

use crate::http::access_log::AccessLog;
use crate::http::body::BodyLimits;
use crate::http::known_tokens::KnownTokens;
use crate::http::permits::Permits;

/// The context of every request.
pub struct Service {
    pub store: Arc<dyn Engine>,
    pub tokens: Arc<KnownTokens>,
    /// The creates, on their way into the store.
    pub commits: GroupCommit,
    /// One for each create that is in the service.
    pub permits: Permits,
    pub bodies: BodyLimits,
    pub access_log: Arc<AccessLog>,
}

impl Service {
    /// A service over that store, which accepts those tokens, has `max_creates` permits for
    /// creates, logs each request to `log` and registers its metrics.
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
