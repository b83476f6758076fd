//! A service that runs: its parts, what ends it, and how it stops.

use std::sync::Arc;

use anyhow::{Result, bail};
use plant_store_store::{self as store, Engine, GroupCommit, WriterEnd};
use sd_notify::NotifyState;
use slog::{Logger, error, info, warn};
use tokio::signal::unix::Signal;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::command::serve::args::Args;
use crate::command::serve::reload::{TlsInUse, reload_at_hangup};
use crate::command::serve::signals::Stop;
use crate::http::server::Server;

/// The parts of the service.
pub struct Running {
    pub server: Server,
    pub store: Arc<dyn Engine>,
    pub plants: GroupCommit,
    pub writer_end: WriterEnd,
    /// Reads the tokens again and again.
    pub token_reader: JoinHandle<()>,
    /// None if the service does not speak TLS.
    pub tls: Option<TlsInUse>,
    pub log: Logger,
}

/// The thread that commits ended without an order, such as by a panic.
#[derive(Debug, thiserror::Error)]
#[error("the writer died")]
struct WriterDied;

impl Running {
    /// Serves until a signal comes, the store is lost, or the writer dies. Then answers the
    /// requests in flight, for at most `--shutdown-timeout`; a signal ends that early.
    pub async fn run(mut self, args: &Args, stop: &mut Stop, hangup: &mut Signal) -> Result<()> {
        let log = self.log.clone();
        let watched = store::watch(Arc::clone(&self.store), &self.plants, log.clone());
        let tls = self.tls.take();
        let ended = tokio::select! {
            () = stop.next() => Ok(()),
            end = &mut self.writer_end => match end {
                Ok(Err(lost)) => Err(lost),
                _ => Err(WriterDied.into()),
            },
            lost = watched => Err(lost),
            never = reload_at_hangup(&self.server, tls, hangup, &log) => match never {},
        };
        info!(log, "stopping");
        let _ = sd_notify::notify(&[NotifyState::Stopping]);
        let closed = tokio::select! {
            closed = timeout(*args.shutdown_timeout, self.close(ended.is_ok())) => closed,
            () = stop.next() => bail!("stopped at once by a second signal"),
        };
        match &closed {
            Ok(Ok(())) => info!(log, "stopped"),
            Ok(Err(cause)) => {
                error!(log, "stopped with an error"; "cause" => format!("{cause:#}"));
            }
            Err(_) => warn!(log, "stopped with requests unfinished"),
        }
        ended.and(closed.unwrap_or(Ok(())))
    }

    /// Closes the connections, then the store if it is sound.
    async fn close(self, is_sound: bool) -> Result<()> {
        let _ = self.server.close().await;
        if !is_sound {
            return Ok(());
        }
        self.token_reader.abort();
        self.plants.end();
        self.writer_end.await.unwrap_or_else(|_| Err(WriterDied.into()))
    }
}
