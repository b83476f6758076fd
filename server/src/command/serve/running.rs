//! A service that has started: its parts, what ends it, and how it stops.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Error, Result, anyhow, bail};
use sd_notify::NotifyState;
use slog::{Logger, info, warn};
use tokio::signal::unix::Signal;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{sleep, timeout};

use crate::admin::{Admin, Readiness};
use crate::command::serve::args::{Args, FirstToken};
use crate::command::serve::first_token::{announce, show};
use crate::command::serve::signals::Stop;
use crate::command::serve::tls::{self, Validity};
use crate::http::accepted_tokens::AcceptedTokens;
use crate::http::server::{Server, listen};
use crate::http::service::Service;
use crate::listener::connections::Connections;
use crate::log::Log;
use crate::store::{self, Engine, GroupCommit, StoreError, WriterEnd};
use crate::token::{StoredToken, Token, TokenName};

/// How long a stop waits for connections to close after the last request is answered.
const LAST_ANSWERS: Duration = Duration::from_millis(300);

/// How often a database that is not there yet is tried.
const TRY_EVERY: Duration = Duration::from_secs(1);

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

impl Running {
    /// Starts the service. It waits for a database that is not there yet. A start that waits may be
    /// dropped.
    pub async fn start(args: &Args, log: &Log, admin: Option<Admin>) -> Result<Self> {
        let (flags, logger) = (args.clone(), log.logger.clone());
        // Another thread opens what may wait for a disk. An address that is in use must not leave a
        // new store behind, so it is tried before.
        let tls = spawn_blocking(move || {
            let listen = flags.listen;
            drop(TcpListener::bind(listen).map_err(|cause| cannot("listen", listen, &cause))?);
            flags.tls().map(|files| files.load(&logger)).transpose()
        });
        let (config, validity) = tls.await??.unzip();
        validity.into_iter().for_each(Validity::report);
        let scheme = if validity.is_some() { "https" } else { "http" };

        let (store, is_new) = open(args, &log.logger).await?;
        let accepted = AcceptedTokens::new(args.max_rate, args.max_creates);
        let issues = is_new && args.first_token == FirstToken::Print;
        let (engine, tokens) = (Arc::clone(&store), accepted.clone());
        let begun = spawn_blocking(move || begin(&*engine, &tokens, issues));
        let (first, tokens) = begun.await??;
        if tokens == 0 {
            warn!(log.logger, "the store has no token: `plant-store token create NAME` makes one");
        }
        let (plants, writer_end) =
            GroupCommit::start(Arc::clone(&store), *args.store_timeout, log.logger.clone())
                .context("cannot start the writer")?;

        let places = args.max_creates.get() as usize;
        let service = Service::new(
            accepted.clone(),
            plants.clone(),
            places,
            args.bodies(),
            log.logger.clone(),
        );
        let connections = Arc::clone(&service.connections);
        let records = Arc::clone(&log.dropshot);
        let server = listen(args.listen, config, args.max_connections, service, records)
            .with_context(|| format!("cannot listen on {}", args.listen))?;
        let address = server.local_addr();
        if let Some(admin) = admin {
            admin.is_ready_by(readiness(&connections, &accepted, &plants));
        }
        announce(scheme, address)?;
        info!(log.logger, "listening"; "address" => %address, "store" => %args.store.url);
        if let Some(token) = first {
            show(scheme, address, &token).context(
                "the first token was not printed: `plant-store token create NAME` makes another",
            )?;
        }
        tell_supervisor(NotifyState::Ready);
        let log = log.logger.clone();
        let tokens = tokio::spawn(accepted.watch(Arc::clone(&store), log.clone()));
        Ok(Self { server, connections, store, plants, writer_end, tokens, validity, log })
    }

    /// Waits until the service has to stop. Returns why, unless a signal says it.
    pub async fn until_it_ends(
        &mut self,
        args: &Args,
        stop: &mut Stop,
        hangup: &mut Signal,
    ) -> Option<Error> {
        let watched = store::watch(Arc::clone(&self.store), &self.plants, self.log.clone());
        let tls = args.tls().zip(self.validity);
        tokio::select! {
            () = stop.next() => None,
            end = &mut self.writer_end => match end {
                Ok(Err(lost)) => Some(lost.into()),
                _ => Some(anyhow!("the writer died")),
            },
            lost = watched => Some(lost.into()),
            never = self.connections.look_after(*args.idle_timeout, &self.log) => match never {},
            never = tls::reload(&self.server, tls, hangup, &self.log) => match never {},
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
        tell_supervisor(NotifyState::Stopping);
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
        match self.writer_end.await {
            Ok(Err(last)) => Err(last.into()),
            _ => Ok(()),
        }
    }
}

/// Opens the store. Tries a database that is not there once a second, and says so once.
async fn open(args: &Args, log: &Logger) -> Result<(Arc<dyn Engine>, bool)> {
    let mut is_said = false;
    loop {
        let (store, start) = (args.store.clone(), args.start());
        let opened =
            spawn_blocking(move || store::serve(&store.url, store.ca.as_deref(), start)).await?;
        match opened {
            Err(StoreError::Unreachable { cause, .. }) => {
                if !is_said {
                    warn!(log, "waiting for the database: the service listens when it is there";
                        "cause" => %cause);
                    is_said = true;
                }
            }
            opened => return Ok(opened?),
        }
        sleep(TRY_EVERY).await;
    }
}

/// Issues the first token if there is to be one, and reads the tokens. Returns how many there are.
fn begin(
    store: &dyn Engine,
    accepted: &AcceptedTokens,
    issues: bool,
) -> Result<(Option<Token>, usize), StoreError> {
    let first = issues.then(|| StoredToken::issue(TokenName::first(), None));
    if let Some((_, stored)) = &first {
        store.add_token(stored)?;
    }
    Ok((first.map(|(token, _)| token), accepted.read(store)?))
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

/// Tells the supervisor that started the process, if there is one (sd_notify(3)). One that cannot be
/// told sees what happens to the process.
fn tell_supervisor(state: NotifyState<'_>) {
    let _ = sd_notify::notify(&[state]);
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
