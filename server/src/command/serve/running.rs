//! A service that has started: its parts, what ends it, and how it stops.

use std::future::pending;
use std::io::{self, ErrorKind};
use std::mem::ManuallyDrop;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, Error, Result, anyhow, bail};
use sd_notify::NotifyState;
use slog::{Logger, info, warn};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

use crate::command::serve::args::Args;
use crate::command::serve::beginning::Beginning;
use crate::command::serve::first_token::{announce, show};
use crate::command::serve::signals::{Signals, Stop};
use crate::command::serve::supervisor;
use crate::command::serve::tls;
use crate::http::accepted_tokens::AcceptedTokens;
use crate::http::server::{Server, listen};
use crate::http::service::Service;
use crate::http::tls::{Tls, Validity};
use crate::listener::connections::Connections;
use crate::log::Log;
use crate::operations::{Operations, Readiness};
use crate::store::{self, GroupCommit, ServedStore, WriterEnd};

/// How long a stop waits for connections to close after the last request is answered.
const LAST_ANSWERS: Duration = Duration::from_millis(300);

/// The parts of the service.
pub struct Running {
    server: Server,
    connections: Arc<Connections>,
    store: Arc<dyn ServedStore>,
    plants: GroupCommit,
    writer_end: WriterEnd,
    /// Keeps the tokens fresh, once the store can be used. It ends only with an error.
    fresh: JoinHandle<Error>,
    /// When the certificate of TLS is valid, if there is one.
    validity: Option<Validity>,
    /// Says that the store can be used.
    begun: oneshot::Receiver<()>,
    log: Logger,
}

impl Running {
    /// Starts the service. A start that waits for a disk may be dropped. `unseen` says whether the
    /// store may have a first token that nobody has seen.
    pub async fn start(
        args: &Args,
        log: &Log,
        operations: Option<Operations>,
        unseen: Arc<AtomicBool>,
    ) -> Result<Self> {
        let (flags, logger) = (args.clone(), log.logger.clone());
        let (tls, store) = spawn_blocking(move || open(&flags, &logger)).await??;
        let validity = tls.as_ref().map(|tls| tls.validity);
        validity.into_iter().for_each(tls::report);
        let scheme = if tls.is_some() { "https" } else { "http" };
        let accepted = AcceptedTokens::new(args.max_rate);
        let beginning = Beginning::new(
            Arc::clone(&store),
            accepted.clone(),
            args.first_token(),
            unseen,
            log.logger.clone(),
        );
        let beginning = beginning.attempt().await?;
        let opened = Arc::clone(&store);
        let writer = spawn_blocking(move || opened.writer()).await??;
        let (plants, writer_end) = GroupCommit::start(writer, args.limits(), log.logger.clone())
            .context("cannot start the writer")?;

        let service =
            Service::new(accepted.clone(), plants.clone(), args.bodies(), log.logger.clone());
        let connections = service.connections();
        let records = Arc::clone(&log.dropshot);
        let config = tls.map(|tls| tls.config);
        let server = listen(args.listen, config, Some(args.max_connections), service, records)
            .with_context(|| format!("cannot listen on {}", args.listen))?;
        let address = server.local_addr();
        if let Some(operations) = operations {
            operations.is_ready_by(readiness(&connections, &accepted, &plants));
        }
        if let Err(cause) = announce(scheme, address) {
            return Err(beginning.cannot_print(cause).await);
        }
        info!(log.logger, "listening"; "address" => %address, "store" => %args.store.url);

        let completed = beginning.complete(move |header| show(scheme, address, header));
        let (begins, begun) = oneshot::channel();
        let (for_tokens, logger) = (Arc::clone(&store), log.logger.clone());
        let fresh = tokio::spawn(async {
            if let Err(error) = completed.await {
                return error;
            }
            // Nobody waits for it if the service stops already.
            let _ = begins.send(());
            match accepted.keep_fresh(for_tokens, logger).await {}
        });
        supervisor::tell(NotifyState::Ready);
        let log = log.logger.clone();
        Ok(Self { server, connections, store, plants, writer_end, fresh, validity, begun, log })
    }

    /// Waits until the service has to stop. Returns why, unless a signal says it.
    pub async fn until_it_ends(&mut self, args: &Args, signals: &mut Signals) -> Option<Error> {
        let service = self.server.app_private();
        let (store, log) = (Arc::clone(&self.store), self.log.clone());
        let tended = async {
            match (&mut self.begun).await {
                Ok(()) => store::tend(store, &self.plants, log).await,
                Err(_) => pending().await,
            }
        };
        let tls = args.tls().zip(self.validity);
        tokio::select! {
            () = signals.stop.next() => None,
            end = &mut self.writer_end => match end {
                Ok(Err(lost)) => Some(lost.into()),
                _ => Some(anyhow!("the writer died")),
            },
            Ok(error) = &mut self.fresh => Some(error),
            lost = tended => Some(lost.into()),
            never = service.look_after(*args.idle_timeout) => match never {},
            never = tls::reload(&self.server, tls, &mut signals.hangup, &self.log) => {
                match never {}
            }
            never = supervisor::feed_watchdog(|| self.plants.answers()) => match never {},
        }
    }

    /// Stops: answers the requests in flight, for at most `limit`. A signal ends that early.
    ///
    /// # Errors
    ///
    /// `lost`, or what went wrong now.
    pub async fn stop(self, lost: Option<Error>, limit: Duration, stop: &mut Stop) -> Result<()> {
        let log = self.log.clone();
        info!(log, "stopping");
        supervisor::tell(NotifyState::Stopping);
        let closed = tokio::select! {
            closed = timeout(limit, self.close(lost.is_none())) => closed,
            () = stop.next() => bail!("stopped at once by a second signal"),
        };
        match closed {
            Ok(_) => info!(log, "stopped"),
            Err(_) => warn!(log, "stopped with requests unfinished"),
        }
        lost.map_or(closed.unwrap_or(Ok(())), Err)
    }

    /// Closes the connections, then the store if it is `sound`.
    async fn close(self, is_sound: bool) -> Result<()> {
        // Its connection copies the WAL into the store's file when it closes. If the store is lost
        // that must not happen, and if the disk does not answer nobody waits for it.
        let store = ManuallyDrop::new(self.store);
        let closing = tokio::spawn(self.server.close());
        self.connections.are_answered().await;
        // The connections that wait for nothing close now, after the last answers are sent. Those
        // that have more to say, or do not read, are not waited for.
        let _ = timeout(LAST_ANSWERS, closing).await;
        if !is_sound {
            return Ok(());
        }
        self.fresh.abort();
        self.plants.end().await;
        let ended = self.writer_end.await;
        let _ = spawn_blocking(|| drop(ManuallyDrop::into_inner(store))).await;
        match ended {
            Ok(Err(last)) => Err(last.into()),
            _ => Ok(()),
        }
    }
}

/// Opens what may wait for a disk: the files of TLS and the store. An address that is in use must not
/// leave a new store behind, so it is tried before.
fn open(args: &Args, log: &Logger) -> Result<(Option<Tls>, Arc<dyn ServedStore>)> {
    drop(TcpListener::bind(args.listen).map_err(|cause| cannot("listen", args.listen, &cause))?);
    let tls = args.tls().map(|files| tls::load(&files, log)).transpose()?;
    let store = store::open_to_serve(&args.store.url, args.start());
    Ok((tls, store.map_err(|error| args.first_token().explain(error))?))
}

/// Why nothing can be done on that address. A permission can only be that for the port (ip(7),
/// `ip_unprivileged_port_start`).
pub fn cannot(doing: &str, address: SocketAddr, cause: &io::Error) -> Error {
    let advice = match cause.kind() {
        ErrorKind::PermissionDenied => {
            ": a low port needs root or CAP_NET_BIND_SERVICE; take one from 1024 on"
        }
        _ => "",
    };
    anyhow!("cannot {doing} on {address}: {cause}{advice}")
}

/// Says whether a create would be taken now.
fn readiness(
    connections: &Arc<Connections>,
    accepted: &AcceptedTokens,
    plants: &GroupCommit,
) -> Readiness {
    let (connections, accepted, plants) =
        (Arc::clone(connections), accepted.clone(), plants.clone());
    Box::new(move || match connections.are_ending() {
        true => Err("the service stops"),
        false => accepted.readiness().and_then(|()| plants.readiness()),
    })
}
