//! `serve`: the life of a server process, from its flags to its exit.
//!
//! Handling requests is the task of [`crate::http`].
//!
//! # Threads
//!
//! One to four threads serve HTTP. One thread commits and inspects the store, one reads the tokens,
//! one writes the log, and one runs the admin listener if `--metrics` is set. Tokio starts further
//! threads for blocking work on a disk or a database.
//!
//! The main thread starts the server, and until it listens, a signal ends the process. From then on
//! the HTTP threads also wait for signals, so they must never open a file or a store: while a disk
//! does not respond, they would miss signals.

mod args;
mod process;
mod tls;

use std::io::{self, IsTerminal};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use dropshot::ConfigTls;
use groundwork_store::token::TokenName;
use groundwork_store::{self as store, Engine, Kind, LAYOUT, Mode, Opened};
use slog::{Logger, error, info, warn};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::timeout;

use crate::admin::Admin;
use crate::command::serve::args::FirstToken;
use crate::command::serve::process::{
    http_runtime, notify_supervisor, print_address, raise_open_files,
};
use crate::command::serve::tls::{TlsFiles, reload_at_hangup};
use crate::command::shared::StoreArgs;
use crate::command::token;
use crate::http::{Limits, State, start_server};
use crate::log::{Log, LogFormat};
use crate::service::Service;
use crate::tokens::KnownTokens;

pub use crate::command::serve::args::Args;

/// The pause between two attempts to reach a database.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// How long a shutdown waits for the last commits and for closing the store.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// How long the process waits for blocking threads before it exits.
const THREADS_TIMEOUT: Duration = Duration::from_secs(1);

/// Creates the error of a writer that ended without being told to, for example by a panic.
fn writer_died() -> store::Error {
    store::Error::new(Kind::Other, "the writer died")
}

/// Starts a server, serves until a signal arrives, the store is lost or the writer dies, and stops.
pub fn run(service: &'static Service, args: &Args) -> Result<()> {
    let default = if io::stderr().is_terminal() { LogFormat::Text } else { LogFormat::Json };
    let log = Log::start(args.log_format.unwrap_or(default), args.log_level)
        .context("cannot start the log")?;
    if args.tls.is_none() && !args.listen.ip().is_loopback() {
        warn!(log.logger, "without --tls-cert, tokens travel in plain text: put a proxy that \
            terminates TLS in front, on a network that you trust"; "address" => args.listen);
    }
    let admin = args.metrics.map(|address| start_admin(service, address, &log)).transpose()?;
    // Before the store is created, so that an address in use leaves no new store behind.
    let cannot_listen = || format!("cannot listen on {} (--listen)", args.listen);
    drop(TcpListener::bind(args.listen).with_context(cannot_listen)?);
    let tls = args.tls.as_ref().map(TlsFiles::load).transpose()?;
    let open_files = raise_open_files()?;
    let runtime = http_runtime().context("cannot start the runtime")?;
    // After most of the steps that may fail, because this prints the first token of a new store.
    let store = open_store(service, args, &log.logger)?;
    log_limits(args, open_files, &log.logger);
    let served = runtime.block_on(serve(service, args, store, tls, admin, &log));
    // Blocking threads may still use the store. If one of them waits for a disk that does not
    // respond, the process exits without it.
    runtime.shutdown_timeout(THREADS_TIMEOUT);
    served
}

fn log_limits(args: &Args, open_files: u64, log: &Logger) {
    let Limits { max_body, max_creates, body_timeout, store_timeout } = &args.limits;
    info!(log, "limits";
        "open_files" => open_files,
        "max_creates" => max_creates.get(),
        "max_body" => max_body.as_u64(),
        "body_timeout" => %body_timeout,
        "store_timeout" => %store_timeout,
        "shutdown_timeout" => %args.shutdown_timeout);
}

fn start_admin(service: &'static Service, address: SocketAddr, log: &Log) -> Result<Admin> {
    let admin = Admin::start(service, address, log.dropshot.clone())
        .with_context(|| format!("cannot serve metrics on {address} (--metrics)"))?;
    info!(log.logger, "serving metrics"; "address" => %admin.address);
    Ok(admin)
}

/// A store that was opened to be served, and whose tokens were read.
struct ReadyStore {
    store: Arc<dyn Engine>,
    tokens: Arc<KnownTokens>,
    is_new: bool,
    /// Whether the first token was issued, and printed.
    has_first_token: bool,
}

/// Opens or creates the store, issues the first token of a new store, and reads the tokens: without
/// them, the server would answer 503.
fn open_store(service: &'static Service, args: &Args, log: &Logger) -> Result<ReadyStore> {
    let program = service.names.program;
    let mode = if args.no_create { Mode::Serve } else { Mode::ServeOrCreate };
    let StoreArgs { url, ca } = &args.store;
    let open = || store::open(&service.names, url, ca.as_deref(), mode);
    let Opened { store, is_new } = once_reachable(args, log, open)?;
    let has_first_token = is_new && args.first_token == FirstToken::Print;
    if has_first_token {
        token::issue(service, &*store, TokenName::first(), None, "TOKEN=")?;
    }
    let tokens = Arc::new(KnownTokens::new(args.limits.max_creates));
    if once_reachable(args, log, || tokens.read(&*store))? == 0 {
        warn!(log, "the store has no token: create one with `{program} token create NAME`");
    }
    Ok(ReadyStore { store, tokens, is_new, has_first_token })
}

/// Attempts something with the store. Retries every second while a database cannot be reached, and
/// logs one warning.
fn once_reachable<T>(
    args: &Args,
    log: &Logger,
    attempt: impl Fn() -> Result<T, store::Error>,
) -> Result<T, store::Error> {
    let mut has_warned = false;
    loop {
        match attempt() {
            Err(cause) if cause.kind == Kind::Unavailable && args.store.url.is_on_a_server() => {
                if !has_warned {
                    warn!(log, "waiting for the database: the server listens once it can be \
                        reached"; "cause" => %cause);
                }
                has_warned = true;
            }
            result => return result,
        }
        thread::sleep(RETRY_PAUSE);
    }
}

/// Listens, and serves until a signal arrives, the store is lost or the writer dies. Then stops.
async fn serve(
    service: &'static Service,
    args: &Args,
    store: ReadyStore,
    tls: Option<ConfigTls>,
    admin: Option<Admin>,
    Log { logger: log, dropshot, .. }: &Log,
) -> Result<()> {
    let ReadyStore { store, tokens, is_new, has_first_token } = store;
    let state = State::start(service, store, Arc::clone(&tokens), args.limits.clone(), log);
    let (state, mut writer_end) = state.context("cannot start the threads of the service")?;
    // Before the server listens, so that a signal lets the first requests end, too. From now on
    // none of these signals ends the process.
    let handler = |kind| signal(kind).context("cannot handle signals");
    let mut terminate = handler(SignalKind::terminate())?;
    let mut interrupt = handler(SignalKind::interrupt())?;
    let mut hangup = handler(SignalKind::hangup())?;
    let commits = state.commits.clone();
    let server = start_server(args.listen, tls, Arc::new(state), dropshot.clone())
        .with_context(|| format!("cannot listen on {}", args.listen))?;
    if let Some(admin) = &admin {
        // Not the whole state, with which the admin listener would keep the store open until the
        // process exits.
        let tokens = Arc::clone(&tokens);
        let commits = commits.clone();
        admin.set_readiness(Box::new(move || {
            tokens.readiness()?;
            Ok(commits.readiness()?)
        }));
    }
    let address = server.local_addr();
    if let Err(cause) = print_address(service, args, address, has_first_token) {
        // The service works without these lines.
        warn!(log, "the address could not be printed"; "cause" => format!("{cause:#}"));
    }
    info!(log, "listening"; "address" => %address, "version" => service.release(),
        "store" => %args.store.url.absolute(), "is_new" => is_new, "layout" => LAYOUT);
    let _ = notify_supervisor("READY=1");
    let ended = tokio::select! {
        _ = terminate.recv() => Ok(()),
        _ = interrupt.recv() => Ok(()),
        never = tokens.warn_of_faults(log) => match never {},
        end = writer_end.recv() => end.unwrap_or_else(|| Err(writer_died())),
        never = reload_at_hangup(&server, args.tls.as_ref(), &mut hangup, log) => match never {},
    };
    info!(log, "stopping");
    let _ = notify_supervisor("STOPPING=1");
    if let Some(admin) = admin {
        admin.set_readiness(Box::new(|| bail!("the service is stopping")));
    }
    // Dropshot also waits for clients that have sent half of a head or do not read an answer.
    if timeout(*args.shutdown_timeout, server.close()).await.is_err() {
        warn!(log, "the grace period is over: some requests are left unfinished");
    }
    tokens.end();
    if let Err(cause) = ended {
        // The store is left as after a crash.
        info!(log, "stopped");
        return Err(cause.into());
    }
    commits.end();
    let Ok(end) = timeout(CLOSE_TIMEOUT, writer_end.recv()).await else {
        warn!(log, "the store could not be closed in time: the process exits as after a crash");
        return Ok(());
    };
    if let Err(cause) = end.unwrap_or_else(|| Err(writer_died())) {
        error!(log, "stopped with an error"; "cause" => %cause);
        return Err(cause.into());
    }
    info!(log, "stopped");
    Ok(())
}
