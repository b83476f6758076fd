//! A service that has started: its parts, what ends it, and how it stops.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use plant_store_listener::connections::Connections;
use plant_store_store::{self as store, Engine, GroupCommit, LAYOUT, WriterEnd};
use sd_notify::NotifyState;
use slog::{Logger, error, info, warn};
use tokio::signal::unix::Signal;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

use crate::admin::{Admin, Readiness};
use crate::command::common::of_store;
use crate::command::serve::announcement::{Endpoint, announce};
use crate::command::serve::args::Args;
use crate::command::serve::opening::{Opened, open};
use crate::command::serve::reload::reload_at_hangup;
use crate::command::serve::signals::Stop;
use crate::command::serve::tls::Validity;
use crate::http::accepted_tokens::AcceptedTokens;
use crate::http::body::BodyLimits;
use crate::http::server::{Server, listen};
use crate::http::service::Service;
use crate::log::Log;

/// How long a stop waits for connections to close after the last request is answered.
const LAST_ANSWERS: Duration = Duration::from_millis(300);

/// The parts of the service.
pub struct Running {
    server: Server,
    connections: Arc<Connections>,
    store: Arc<dyn Engine>,
    plants: GroupCommit,
    writer_end: WriterEnd,
    /// Reads the tokens again and again.
    tokens: JoinHandle<()>,
    /// When the certificate of TLS is valid, if there is one.
    validity: Option<Validity>,
    log: Logger,
}

/// Why `/ready` says that the service takes no creates.
#[derive(Debug, thiserror::Error)]
#[error("the service stops")]
struct Stops;

/// The thread that commits ended without an order, such as by a panic.
#[derive(Debug, thiserror::Error)]
#[error("the writer died")]
struct WriterDied;

impl Running {
    /// Starts the service. It waits for a database that is not there yet. A start that waits may be
    /// dropped.
    pub async fn start(args: &Args, logs: &Log, admin: Option<Arc<Admin>>) -> Result<Self> {
        let log = logs.logger.clone();
        let accepted = AcceptedTokens::new(args.max_rate, args.max_creates);
        let opened = spawn_blocking({
            let args = args.clone();
            let accepted = accepted.clone();
            let log = log.clone();
            move || open(&args, &accepted, &log)
        });
        let Opened { tls, store, is_new, first_token } =
            opened.await?.map_err(of_store(&args.store.url))?;
        let validity = tls.as_ref().map(|tls| tls.validity);
        validity.into_iter().for_each(Validity::report);

        let (plants, writer_end) =
            GroupCommit::start(Arc::clone(&store), *args.store_timeout, log.clone())
                .context("cannot start the writer")?;
        let size = usize::try_from(args.max_body.as_u64()).unwrap_or(usize::MAX);
        let bodies = BodyLimits { size, time: *args.body_timeout };
        let service =
            Service::new(accepted.clone(), plants.clone(), args.max_creates, bodies, log.clone());
        let connections = Arc::clone(&service.connections);
        let config = tls.map(|tls| tls.config);
        let records = Arc::clone(&logs.dropshot);
        let server = listen(args.listen, config, args.max_connections, service, records)
            .with_context(|| format!("cannot listen on {}", args.listen))?;
        if let Some(admin) = admin {
            let ready = readiness(Arc::clone(&connections), accepted.clone(), plants.clone());
            let _ = admin.readiness.set(ready);
        }
        let scheme = if validity.is_some() { "https" } else { "http" };
        let address = server.local_addr();
        announce(Endpoint { scheme, address }, first_token.as_ref(), &log)?;
        info!(log, "listening"; "address" => %address, "version" => env!("PLANT_STORE_VERSION"),
            "store" => %args.store.url.absolute(), "is_new" => is_new, "layout" => LAYOUT);
        log_limits(args, &log);
        // A supervisor that cannot be told (sd_notify(3)) sees what happens to the process.
        let _ = sd_notify::notify(&[NotifyState::Ready]);
        let tokens = tokio::spawn(accepted.watch(Arc::clone(&store), log.clone()));
        Ok(Self { server, connections, store, plants, writer_end, tokens, validity, log })
    }

    /// Serves until a signal comes, the store is lost, or the writer dies. Then answers the
    /// requests in flight, for at most `--shutdown-timeout`; a signal ends that early.
    pub async fn run(mut self, args: &Args, stop: &mut Stop, hangup: &mut Signal) -> Result<()> {
        let log = self.log.clone();
        let watched = store::watch(Arc::clone(&self.store), &self.plants, log.clone());
        let tls = args.tls.clone().zip(self.validity);
        let ended = tokio::select! {
            () = stop.next() => Ok(()),
            end = &mut self.writer_end => match end {
                Ok(Err(lost)) => Err(lost),
                _ => Err(WriterDied.into()),
            },
            lost = watched => Err(lost),
            never = self.connections.watch(*args.idle_timeout, &log) => match never {},
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
                error!(log, "the store was not closed"; "cause" => format!("{cause:#}"));
            }
            Err(_) => warn!(log, "stopped with requests unfinished"),
        }
        ended.and(closed.unwrap_or(Ok(())))
    }

    /// Closes the connections, then the store if it is sound.
    async fn close(self, is_sound: bool) -> Result<()> {
        let closing = tokio::spawn(self.server.close());
        self.connections.are_answered().await;
        // The connections that wait for nothing close now, after the last answers are sent. Those
        // that have more to say, or do not read, are not waited for.
        let _ = timeout(LAST_ANSWERS, closing).await;
        if !is_sound {
            return Ok(());
        }
        self.tokens.abort();
        self.plants.end();
        self.writer_end.await.unwrap_or_else(|_| Err(WriterDied.into()))
    }
}

/// Says which limits are in force. The listener says if it allows fewer connections.
fn log_limits(args: &Args, log: &Logger) {
    info!(log, "limits";
        "max_connections" => args.max_connections.get(),
        "max_creates" => args.max_creates.get(),
        "max_body" => args.max_body.as_u64(),
        "max_rate" => args.max_rate.map(NonZeroU32::get),
        "idle_timeout" => %args.idle_timeout,
        "body_timeout" => %args.body_timeout,
        "store_timeout" => %args.store_timeout,
        "shutdown_timeout" => %args.shutdown_timeout);
}

/// What `/ready` answers while the service runs.
fn readiness(
    connections: Arc<Connections>,
    accepted: AcceptedTokens,
    plants: GroupCommit,
) -> Readiness {
    Box::new(move || {
        if connections.are_ending() {
            return Err(Stops.into());
        }
        accepted.readiness()?;
        plants.readiness()?;
        Ok(())
    })
}
