//! A service that has started: its parts, what ends it, and how it stops.

use std::io::{self, ErrorKind};
use std::mem;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Error, Result, anyhow, bail};
use dropshot::ConfigTls;
use plant_store_listener::connections::Connections;
use plant_store_store::token::TokenName;
use plant_store_store::{self as store, Engine, GroupCommit, LAYOUT, Start, StoreError, WriterEnd};
use sd_notify::NotifyState;
use slog::{Logger, info, warn};
use tokio::signal::unix::Signal;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

use crate::admin::Admin;
use crate::command::common::{of_store, print};
use crate::command::serve::args::{Args, FirstToken};
use crate::command::serve::tls::{self, Validity};
use crate::http::accepted_tokens::AcceptedTokens;
use crate::http::body::BodyLimits;
use crate::http::server::{Server, listen};
use crate::http::service::Service;
use crate::log::Log;
use crate::token::{self, Token};

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

/// The signals that stop the service. While this is there, they do not end the process.
pub type Stop = [Signal; 2];

/// Waits for the next of them.
pub async fn next([one, other]: &mut Stop) {
    tokio::select! {
        _ = one.recv() => {}
        _ = other.recv() => {}
    }
}

impl Running {
    /// Starts the service. It waits for a database that is not there yet. A start that waits may be
    /// dropped.
    pub async fn start(args: &Args, log: &Log, admin: Option<Arc<Admin>>) -> Result<Self> {
        let (records, log) = (Arc::clone(&log.dropshot), log.logger.clone());
        let accepted = AcceptedTokens::new(args.max_rate, args.max_creates);
        let (flags, tokens, logger) = (args.clone(), accepted.clone(), log.clone());
        let (tls, store, is_new, first) = spawn_blocking(move || open(&flags, &tokens, &logger))
            .await?
            .map_err(of_store(&args.store.url))?;
        let (config, validity) = tls.unzip();
        validity.into_iter().for_each(Validity::report);

        let (plants, writer_end) =
            GroupCommit::start(Arc::clone(&store), *args.store_timeout, log.clone())
                .context("cannot start the writer")?;
        let size = usize::try_from(args.max_body.as_u64()).unwrap_or(usize::MAX);
        let bodies = BodyLimits { size, time: *args.body_timeout };
        let service =
            Service::new(accepted.clone(), plants.clone(), args.max_creates, bodies, log.clone());
        let connections = Arc::clone(&service.connections);
        let server = listen(args.listen, config, args.max_connections, service, records)
            .with_context(|| format!("cannot listen on {}", args.listen))?;
        if let Some(admin) = admin {
            let (connections, accepted) = (Arc::clone(&connections), accepted.clone());
            let plants = plants.clone();
            let _ = admin.readiness.set(Box::new(move || match connections.are_ending() {
                true => Err("the service stops"),
                false if accepted.readiness().is_err() => Err("the tokens cannot be read"),
                false => plants.readiness(),
            }));
        }
        let (address, scheme) = (server.local_addr(), validity.map_or("http", |_| "https"));
        let first = first.map(|token| first_request(scheme, address, &token)).unwrap_or_default();
        print(&format!("plant-store listening on {scheme}://{address}\n{first}"))?;
        info!(log, "listening"; "address" => %address, "version" => env!("PLANT_STORE_VERSION"),
            "store" => %args.store.url.absolute(), "is_new" => is_new, "layout" => LAYOUT);
        // A supervisor that cannot be told (sd_notify(3)) sees what happens to the process.
        let _ = sd_notify::notify(&[NotifyState::Ready]);
        let tokens = tokio::spawn(accepted.watch(Arc::clone(&store), log.clone()));
        Ok(Self { server, connections, store, plants, writer_end, tokens, validity, log })
    }

    /// Serves until a signal comes or the store is lost. Then answers the requests in flight, for at
    /// most `--shutdown-timeout`; a signal ends that early.
    pub async fn run(mut self, args: &Args, stop: &mut Stop, hangup: &mut Signal) -> Result<()> {
        let log = self.log.clone();
        let watched = store::watch(Arc::clone(&self.store), &self.plants, log.clone());
        let tls = args.tls.clone().zip(self.validity);
        let ended = tokio::select! {
            () = next(stop) => Ok(()),
            end = &mut self.writer_end => match end {
                Ok(Err(lost)) => Err(lost),
                _ => Err(anyhow!("the writer died")),
            },
            lost = watched => Err(lost),
            never = self.connections.watch(*args.idle_timeout, &log) => match never {},
            never = tls::reload(&self.server, tls, hangup, &log) => match never {},
        };
        info!(log, "stopping");
        let _ = sd_notify::notify(&[NotifyState::Stopping]);
        let closed = tokio::select! {
            closed = timeout(*args.shutdown_timeout, self.close(ended.is_ok())) => closed,
            () = next(stop) => bail!("stopped at once by a second signal"),
        };
        match closed {
            Ok(_) => info!(log, "stopped"),
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
        self.writer_end.await.unwrap_or(Ok(()))
    }
}

/// The files of TLS, the store, whether it is new, and its first token if that is to be shown.
type Opened = (Option<(ConfigTls, Validity)>, Arc<dyn Engine>, bool, Option<Token>);

/// What may wait for a disk or a database: reads the files of TLS, opens the store, issues the first
/// token if there is to be one, and reads the tokens. An address that is in use must not leave a new
/// store behind, so it is tried before.
fn open(args: &Args, accepted: &AcceptedTokens, log: &Logger) -> Result<Opened> {
    drop(TcpListener::bind(args.listen).map_err(cannot("listen", args.listen))?);
    let tls = args.tls.as_ref().map(|files| files.load(log)).transpose()?;
    let (store, is_new) = open_store(args, log)?;
    let mut first = None;
    if is_new && args.first_token == FirstToken::Print {
        let (token, stored) = token::issue(TokenName::first(), None);
        store.add_token(&stored)?;
        first = Some(token);
    }
    if accepted.read(&*store)? == 0 {
        warn!(log, "the store has no token: `plant-store token create NAME` makes one");
    }
    Ok((tls, store, is_new, first))
}

/// Opens the store, and says whether it is new. Tries a database that is not there once a second, and
/// says so once.
fn open_store(args: &Args, log: &Logger) -> Result<(Arc<dyn Engine>, bool), StoreError> {
    let Args { without_wal, without_fsync, .. } = *args;
    let start = Start { create: !args.no_create, without_wal, without_fsync };
    let mut is_said = false;
    loop {
        let opened = store::serve(&args.store.url, args.store.ca.as_deref(), start);
        let Err(StoreError::Unreachable { cause, .. }) = &opened else { return opened };
        if !mem::replace(&mut is_said, true) {
            warn!(log, "waiting for the database: the service listens when it is there";
                "cause" => %cause);
        }
        thread::sleep(TRY_EVERY);
    }
}

/// A command that uses the first token of a new store.
fn first_request(scheme: &str, mut address: SocketAddr, token: &Token) -> String {
    match address.ip() {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    format!(
        "curl {scheme}://{address}/plants -H 'Authorization: Bearer {}' \
         -H 'Content-Type: application/json' \
         -d '{{\"id\":1,\"name\":\"Monstera deliciosa\",\"tag\":\"indoor\"}}'\n",
        token.reveal(),
    )
}

/// Why nothing can be done on that address. A permission can only be that for the port (ip(7),
/// `ip_unprivileged_port_start`).
pub fn cannot(doing: &str, address: SocketAddr) -> impl Fn(io::Error) -> Error {
    const ADVICE: &str = ": a low port needs root or CAP_NET_BIND_SERVICE; take one from 1024 on";
    move |cause| {
        let is_denied = cause.kind() == ErrorKind::PermissionDenied;
        anyhow!("cannot {doing} on {address}: {cause}{}", if is_denied { ADVICE } else { "" })
    }
}
