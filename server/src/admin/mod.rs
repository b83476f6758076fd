//! The admin listener: `/metrics`, `/live`, `/ready` and `/openapi.json`, for operators and their
//! programs. It is a second Dropshot server, and the server of the API never has these answers.
//!
//! It has a thread of its own, so a scrape does not wait for requests, and requests do not wait
//! while the samples of a busy second are sorted.
//!
//! The series of requests and of commits are registered once, as 0, and their handles are kept: a
//! request looks up nothing and allocates nothing. The others are looked up by name, at most a few
//! times a second. Without [`Admin`] the handles do nothing and cost a branch each.
//!
//! Everybody who can reach the address may ask. So a label must never hold what a client sent, and
//! nothing may count plants or tokens by their content. The values of labels are words of this
//! crate, or the names of tokens. The exporter keeps a series until the process ends.

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

/// The admin listener.
pub struct Admin {
    /// Where it listens, with the port that port 0 became.
    pub address: SocketAddr,
    state: Arc<State>,
}

impl Admin {
    /// Serves until the process ends; counts what is registered from now on. There can be one.
    /// `log` takes Dropshot's own records.
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

    /// Sets what `/ready` answers once the service has started.
    pub fn set_readiness(&self, readiness: Readiness) {
        let _ = self.state.readiness.set(readiness);
    }

    /// From now on `/ready` answers that the service stops.
    pub fn set_stopping(&self) {
        self.state.is_stopping.store(true, Relaxed);
    }
}

/// Why the address cannot be used, as the operating system says it.
fn cause(error: BuildError) -> io::Error {
    match error {
        BuildError::BindError { error, .. } => error,
        other => io::Error::other(other),
    }
}
