//! The state that requests share.

use std::io;
use std::sync::Arc;

use plant_store_store::{Engine, GroupCommit, WriterEnd};
use slog::Logger;

use crate::http::access_log::AccessLog;
use crate::http::known_tokens::KnownTokens;
use crate::http::limits::Limits;
use crate::http::permits::Permits;

/// The Dropshot context of every request.
pub struct Service {
    pub store: Arc<dyn Engine>,
    pub tokens: Arc<KnownTokens>,
    /// The queue of creates that wait for a commit.
    pub commits: GroupCommit,
    /// Each create holds a permit while it is in the service.
    pub permits: Permits,
    pub limits: Limits,
    pub access_log: Arc<AccessLog>,
}

impl Service {
    /// Starts the writer of `store`, and creates a service that logs each request to `log`.
    /// Registers the metrics of requests.
    ///
    /// # Errors
    ///
    /// Fails if the operating system cannot start a thread.
    pub fn start(
        store: Arc<dyn Engine>,
        limits: Limits,
        log: Logger,
    ) -> io::Result<(Self, WriterEnd)> {
        let (commits, writer_end) =
            GroupCommit::start(Arc::clone(&store), limits.store_timeout, log.clone())?;
        let service = Self {
            store,
            tokens: Arc::new(KnownTokens::new(limits.max_creates)),
            commits,
            permits: Permits::new(limits.max_creates),
            limits,
            access_log: Arc::new(AccessLog::new(log)),
        };
        Ok((service, writer_end))
    }
}
