//! The admin listener: `/metrics`, `/live` and `/ready`, for operators and their programs. It is
//! another listener than that of the API, which never has these answers.
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

mod answers;
mod exporter;
mod listener;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use tokio::net::TcpListener;
use tokio::runtime::Builder;

use crate::admin::answers::Answers;
use crate::admin::exporter::{install_recorder, sort_samples};
use crate::admin::listener::accept_connections;

pub use crate::admin::answers::Readiness;

/// The admin listener.
pub struct Admin {
    /// Where it listens, with the port that port 0 became.
    pub address: SocketAddr,
    answers: Arc<Answers>,
}

impl Admin {
    /// Serves until the process ends; counts what is registered from now on. There can be one.
    pub fn start(address: SocketAddr) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let listener = runtime.block_on(TcpListener::bind(address))?;
        let bound = listener.local_addr()?;
        let exporter = install_recorder().map_err(io::Error::other)?;
        let answers = Arc::new(Answers::new(exporter.clone()));
        runtime.spawn(sort_samples(exporter));
        let accepting = accept_connections(listener, Arc::clone(&answers));
        thread::Builder::new().name("admin".into()).spawn(move || runtime.block_on(accepting))?;
        Ok(Self { address: bound, answers })
    }

    /// Sets what `/ready` answers once the service has started.
    pub fn set_readiness(&self, readiness: Readiness) {
        let _ = self.answers.readiness.set(readiness);
    }

    /// From now on `/ready` answers that the service stops.
    pub fn set_stopping(&self) {
        self.answers.is_stopping.store(true, Relaxed);
    }
}
