//! The HTTP side of the service: everything that happens to a request.
//!
//! Nothing here knows which engine stores the plants.

mod access_log;
mod json;
mod limits;
mod operations;
mod refusal;
mod request;
mod tokens;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use dropshot::{BuildError, ConfigDropshot, ConfigTls, HandlerTaskMode, HttpServer, ServerBuilder};
use plant_store_api::api::plant_store_api_mod;
use plant_store_store::{Engine, GroupCommit, WriterEnd};
use slog::Logger;

use crate::http::access_log::AccessLog;
use crate::http::operations::PlantStore;
use crate::http::tokens::{KnownTokens, Permits};

pub use crate::http::limits::Limits;

/// The state that requests share: the Dropshot context of every request.
pub struct Service {
    pub store: Arc<dyn Engine>,
    pub tokens: Arc<KnownTokens>,
    /// The queue of creates that wait for a commit.
    pub commits: GroupCommit,
    /// Each create holds a permit while it is in the service.
    permits: Permits,
    limits: Limits,
    access_log: Arc<AccessLog>,
}

impl Service {
    /// Starts the writer of `store` and the thread that reads its tokens, and creates a service that
    /// logs each request to `log`. Registers the metrics of requests.
    ///
    /// # Errors
    ///
    /// Fails if the operating system cannot start a thread.
    pub fn start(
        store: Arc<dyn Engine>,
        limits: Limits,
        log: &Logger,
    ) -> io::Result<(Self, WriterEnd)> {
        let (commits, writer_end) =
            GroupCommit::start(Arc::clone(&store), *limits.store_timeout, log.clone())?;
        let tokens = Arc::new(KnownTokens::new(limits.max_creates));
        tokens.start_reading(&store)?;
        let service = Self {
            store,
            tokens,
            commits,
            permits: Permits::new(limits.max_creates.get()),
            limits,
            access_log: Arc::new(AccessLog::new(log.clone())),
        };
        Ok((service, writer_end))
    }
}

/// A running Dropshot server.
pub type Server = HttpServer<Arc<Service>>;

/// Starts a Dropshot server for the service on `address`, over TLS if `tls` is set. `log` receives
/// Dropshot's own records.
///
/// A request runs in the task of its connection and is dropped with it, which saves one task per
/// request. Dropping a request is safe, because a queued create is committed whether or not the
/// client still waits. The access record of a request is written when the request is dropped.
pub fn start_server(
    address: SocketAddr,
    tls: Option<ConfigTls>,
    service: Arc<Service>,
    log: Logger,
) -> Result<Server, BuildError> {
    let api = plant_store_api_mod::api_description::<PlantStore>()
        .expect("the API trait is a valid API description");
    let config = ConfigDropshot {
        bind_address: address,
        default_handler_task_mode: HandlerTaskMode::CancelOnDisconnect,
        ..ConfigDropshot::default()
    };
    ServerBuilder::new(api, service, log).config(config).tls(tls).start()
}
