//! The admin listener: serves `/metrics`, `/live`, `/ready` and `/openapi.json` to operators and
//! their tools. It is a second Dropshot server. The API server never serves these endpoints.
//!
//! The listener runs on a dedicated thread. A scrape does not wait for requests, and requests do
//! not wait while the samples of a busy second are sorted into buckets.
//!
//! The metrics of requests and commits are registered once, with the value 0, and their handles are
//! kept, so a request performs no lookup and no allocation. The other metrics are looked up by
//! name, at most a few times per second. Without [`Admin`] the handles do nothing and cost one
//! branch each.
//!
//! Everybody who can reach the address may read the metrics. Therefore a label must never contain
//! data that a client sent, and no metric may count plants or tokens by their content. The values
//! of labels are constants of the code or names of tokens. The exporter keeps a series until the
//! process ends.

mod endpoints;
mod exporter;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use dropshot::{BuildError, ConfigDropshot, HandlerTaskMode, ServerBuilder};
use slog::Logger;
use tokio::runtime::Builder;

use crate::admin::endpoints::{State, description};
use crate::admin::exporter::{install_recorder, sort_samples};

pub use crate::admin::endpoints::Readiness;

/// A running admin listener.
pub struct Admin {
    /// The address of the listener. If port 0 was requested, this contains the actual port.
    pub address: SocketAddr,
    state: Arc<State>,
}

impl Admin {
    /// Starts the listener, which runs until the process ends, and installs the metrics recorder.
    /// Only metrics that are registered after this call are counted. There can be only one listener
    /// per process. `log` receives Dropshot's own records.
    pub fn start(address: SocketAddr, log: Logger) -> io::Result<Self> {
        let exporter = install_recorder().map_err(io::Error::other)?;
        let state = Arc::new(State::new(exporter.clone()));
        let config = ConfigDropshot {
            bind_address: address,
            default_handler_task_mode: HandlerTaskMode::CancelOnDisconnect,
            ..ConfigDropshot::default()
        };
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let server = {
            let _context = runtime.enter();
            let builder = ServerBuilder::new(description(), Arc::clone(&state), log);
            builder.config(config).start().map_err(cause)?
        };
        let address = server.local_addr();
        let serve = async move {
            let _server = server;
            sort_samples(exporter).await
        };
        thread::Builder::new().name("admin".into()).spawn(move || runtime.block_on(serve))?;
        Ok(Self { address, state })
    }

    /// Sets the check behind `/ready` once the service has started.
    pub fn set_readiness(&self, readiness: Readiness) {
        let _ = self.state.readiness.set(readiness);
    }

    /// Makes `/ready` answer from now on that the service is stopping.
    pub fn set_stopping(&self) {
        self.state.is_stopping.store(true, Relaxed);
    }
}

/// Extracts the error of the operating system if the address cannot be bound.
fn cause(error: BuildError) -> io::Error {
    match error {
        BuildError::BindError { error, .. } => error,
        other => io::Error::other(other),
    }
}
