//! The HTTP side of a service: everything that happens to a request.
//!
//! Nothing here knows which engine stores the rows.

mod access_log;
mod body;
pub(crate) mod limits;
pub(crate) mod request;
mod tokens;
pub(crate) mod typed;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use dropshot::{BuildError, ConfigDropshot, ConfigTls, HandlerTaskMode, HttpServer, ServerBuilder};
use groundwork_store::{Engine, GroupCommit, WriterEnd};
use slog::Logger;
use tokio::sync::Mutex;

use crate::http::access_log::AccessLog;
use crate::http::limits::Limits;
use crate::http::tokens::{KnownTokens, Permits};
use crate::service::Service;

/// The Dropshot context of a service's operations. [`respond`](crate::respond) uses it.
pub type Context = Arc<State>;

/// The state that requests share.
pub struct State {
    pub(crate) service: &'static Service,
    pub(crate) store: Arc<dyn Engine>,
    pub(crate) tokens: Arc<KnownTokens>,
    /// The queue of creates that wait for a commit.
    pub(crate) commits: GroupCommit,
    /// Locked while a row is read. An engine reads one page at a time, and requests that wait here
    /// take no blocking thread.
    reading: Arc<Mutex<()>>,
    /// Each request that uses the store holds a permit while it is in the service.
    permits: Permits,
    limits: Limits,
    access_log: Arc<AccessLog>,
}

impl State {
    /// Starts the writer of `store` and the thread that reads its tokens, and creates the state of
    /// a service that logs each request to `log`. Registers the metrics of requests.
    ///
    /// # Errors
    ///
    /// Fails if the operating system cannot start a thread.
    pub(crate) fn start(
        service: &'static Service,
        store: Arc<dyn Engine>,
        limits: Limits,
        log: &Logger,
    ) -> io::Result<(Self, WriterEnd)> {
        let (commits, writer_end) =
            GroupCommit::start(Arc::clone(&store), *limits.store_timeout, log.clone())?;
        let tokens = Arc::new(KnownTokens::new(limits.max_creates));
        tokens.start_reading(&store)?;
        let state = Self {
            service,
            store,
            tokens,
            commits,
            reading: Arc::default(),
            permits: Permits::new(limits.max_creates.get()),
            limits,
            access_log: Arc::new(AccessLog::new(service, log.clone())),
        };
        Ok((state, writer_end))
    }
}

/// A running Dropshot server.
pub(crate) type Server = HttpServer<Context>;

/// Starts a Dropshot server for the service on `address`, over TLS if `tls` is set. `log` receives
/// Dropshot's own records.
///
/// A request runs in the task of its connection and is dropped with it, which saves one task per
/// request. Dropping a request is safe, because a queued create is committed whether or not the
/// client still waits. The access record of a request is written when the request is dropped.
pub(crate) fn start_server(
    address: SocketAddr,
    tls: Option<ConfigTls>,
    state: Context,
    log: Logger,
) -> Result<Server, BuildError> {
    let api = (state.service.api)();
    let config = ConfigDropshot {
        bind_address: address,
        default_handler_task_mode: HandlerTaskMode::CancelOnDisconnect,
        ..ConfigDropshot::default()
    };
    ServerBuilder::new(api, state, log).config(config).tls(tls).start()
}
