//! `plant-store serve`: from the flags to a serving process, and to its end.
//!
//! Starting and stopping only: what a request meets is in [`crate::service`].
//!
//! One thread speaks HTTP, one commits, one writes the log, and one serves metrics where they are
//! asked for. More threads for HTTP would not make the one writer faster; they would make each
//! create dearer, by the price of waking each other.

use std::io::{self, IsTerminal, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use dropshot::{ConfigDropshot, HandlerTaskMode, HttpServer, ServerBuilder};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::Signal;
use slog::{info, warn};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::timeout;

use crate::accepted::AcceptedTokens;
use crate::api::plant_store_api_mod;
use crate::cli::ServeArgs;
use crate::command::token::{self, TokenName};
use crate::log::{Log, LogFormat};
use crate::metrics::Metrics;
use crate::request::BodyLimits;
use crate::service::{PlantStore, Service};
use crate::store::{self, GroupCommit, WriterEnd};
use crate::token::Token;

/// Serves until a signal says stop.
///
/// # Errors
///
/// Where the service cannot start, or has to stop because the store failed to sync.
pub fn run(args: &ServeArgs) -> Result<()> {
    let format = args.log_format.unwrap_or(match io::stderr().is_terminal() {
        true => LogFormat::Text,
        false => LogFormat::Json,
    });
    let log = Log::start(format, args.log_level.into()).context("cannot start the log")?;
    allow_many_connections();
    let metrics = serve_metrics(args.metrics, &log)?;
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?
        .block_on(serve(args, metrics, &log))
}

/// Each connection is an open file, and the usual soft limit of 1,024 is there for programs that
/// use select(2), which can take no more. As many as are allowed, then; where that fails, fewer
/// connections are accepted at a time.
fn allow_many_connections() {
    if let Ok((_, allowed)) = getrlimit(Resource::RLIMIT_NOFILE) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, allowed, allowed);
    }
}

/// Before anything else: an address that is taken must not leave a new store behind.
fn serve_metrics(address: Option<SocketAddr>, log: &Log) -> Result<Arc<Metrics>> {
    let Some(address) = address else { return Ok(Metrics::off()) };
    let (metrics, address) =
        Metrics::serve(address).with_context(|| format!("cannot serve metrics on {address}"))?;
    info!(log.logger, "serving metrics"; "address" => %address);
    Ok(metrics)
}

async fn serve(args: &ServeArgs, metrics: Arc<Metrics>, log: &Log) -> Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    // A limit on the size of files is to be met as a full disk, which is answered and may pass.
    let _at_file_size_limit = signal(SignalKind::from_raw(Signal::SIGXFSZ as i32))?;

    // An address that is taken must not leave a new store behind, so it is tried first.
    drop(TcpListener::bind(args.listen).with_context(|| cannot_listen(args.listen))?);
    let url = &args.store.store;
    let created = store::create(url)?;
    let engine = store::open(url)?;
    let first_token = match created {
        true => Some(token::issue(&*engine, &TokenName::first(), None)?),
        false => None,
    };

    let accepted = AcceptedTokens::load(&*engine)?;
    let (plants, mut writer_end) = GroupCommit::start(
        engine.writer()?,
        args.queue.get(),
        log.logger.clone(),
        Arc::clone(&metrics),
    )
    .context("cannot start the writer")?;
    tokio::spawn(accepted.clone().keep_fresh(Arc::clone(&engine), log.logger.clone()));
    let body = BodyLimits {
        size: usize::try_from(args.max_body.as_u64()).unwrap_or(usize::MAX),
        time: args.body_timeout,
    };
    let service = Service { accepted, plants, body, log: log.logger.clone(), metrics };
    let server = listen(args.listen, service, log)?;

    announce(server.local_addr(), first_token.as_ref())?;
    info!(log.logger, "listening"; "address" => %server.local_addr(), "store" => %url);

    let failed = tokio::select! {
        _ = terminate.recv() => None,
        _ = interrupt.recv() => None,
        end = &mut writer_end => Some(end),
    };
    info!(log.logger, "stopping");
    let writer_end = failed.is_none().then_some(writer_end);
    tokio::select! {
        () = stop(server, writer_end, args.shutdown_timeout, log) => {}
        _ = terminate.recv() => bail!("stopped at once by a second signal"),
        _ = interrupt.recv() => bail!("stopped at once by a second signal"),
    }
    match failed {
        Some(end) => Ok(end.context("the writer died")??),
        None => Ok(()),
    }
}

/// Puts the service behind Dropshot, on that address.
///
/// A request runs in its connection's own task and is dropped with it, which saves a task for
/// each; that is safe because a queued create takes its course whoever listens.
///
/// # Errors
///
/// Where the address cannot be listened on.
pub fn listen(address: SocketAddr, service: Service, log: &Log) -> Result<HttpServer<Service>> {
    let api = plant_store_api_mod::api_description::<PlantStore>()
        .context("the API trait is no valid API description")?;
    let config = ConfigDropshot {
        bind_address: address,
        default_handler_task_mode: HandlerTaskMode::CancelOnDisconnect,
        ..ConfigDropshot::default()
    };
    ServerBuilder::new(api, service, log.framework.clone())
        .config(config)
        .start()
        .with_context(|| cannot_listen(address))
}

fn cannot_listen(address: SocketAddr) -> String {
    format!("cannot listen on {address}")
}

/// Says where the service is, and to the first owner of a new store, once, how to use it.
fn announce(address: SocketAddr, first_token: Option<&Token>) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "plant-store listening on http://{address}")?;
    if let Some(token) = first_token {
        let mut reachable = address;
        match address.ip() {
            ip if !ip.is_unspecified() => {}
            ip if ip.is_ipv4() => reachable.set_ip(Ipv4Addr::LOCALHOST.into()),
            _ => reachable.set_ip(Ipv6Addr::LOCALHOST.into()),
        }
        writeln!(
            stdout,
            "curl http://{reachable}/plants -H 'Authorization: Bearer {}' \
             -H 'Content-Type: application/json' \
             -d '{{\"id\":1,\"name\":\"Monstera deliciosa\",\"tag\":\"indoor\"}}'",
            token.reveal(),
        )?;
    }
    stdout.flush()
}

/// Takes no more connections, finishes the requests in flight, and lets the writer close the
/// store, all within the time given. What is not finished then was never answered.
async fn stop(
    server: HttpServer<Service>,
    writer_end: Option<WriterEnd>,
    within: Duration,
    log: &Log,
) {
    let finished = timeout(within, async {
        // An error here is a panic of the accept loop, which has taken its connections with it.
        let _ = server.close().await;
        if let Some(end) = writer_end {
            let _ = end.await;
        }
    });
    match finished.await {
        Ok(()) => info!(log.logger, "stopped"),
        Err(_) => warn!(log.logger, "stopped with requests unfinished"),
    }
}
