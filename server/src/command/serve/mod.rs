//! `plant-store serve`: from the flags to a serving process, and to its end.
//!
//! This file only starts and stops. What happens to a request is in [`crate::http::service`].
//!
//! `--http-threads` threads speak HTTP, one commits, one writes the log, and one answers operators
//! where `--metrics` asks for it.

mod args;
mod beginning;
mod first_token;
mod supervisor;

use std::convert::Infallible;
use std::future::pending;
use std::io::{self, IsTerminal};
use std::mem::ManuallyDrop;
use std::net::TcpListener;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use dropshot::{ConfigTls, HttpServer};
use nix::sys::signal::Signal::SIGXFSZ;
use sd_notify::NotifyState;
use slog::{error, info, warn};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::command::serve::beginning::Beginning;
use crate::command::serve::first_token::{announce, show};
use crate::descriptors;
use crate::http::accepted_tokens::AcceptedTokens;
use crate::http::listener::send_at_once;
use crate::http::service::{Service, listen};
use crate::http::tls::{TlsError, TlsFiles};
use crate::log::{Log, LogFormat};
use crate::operations::Operations;
use crate::store::{self, GroupCommit};

pub use crate::command::serve::args::Args;

/// The most threads that speak HTTP unless a flag asks for more: one writer serves about four, see
/// the operator's README.
const MOST_THREADS: usize = 4;

/// How long a stop waits for connections to close after the last request is answered.
const LAST_ANSWERS: Duration = Duration::from_millis(300);

/// How long the end of the process waits for threads that use the store.
const LAST_THREADS: Duration = Duration::from_secs(1);

/// Serves until a signal ends it, or until the store fails to sync.
pub fn run(args: &Args) -> Result<()> {
    let format = args.log_format.unwrap_or(match io::stderr().is_terminal() {
        true => LogFormat::Text,
        false => LogFormat::Json,
    });
    let log =
        Log::start(format, args.log_level, args.log_strangers).context("cannot start the log")?;
    if args.without_fsync {
        warn!(log.logger, "--without-fsync: the database may lose plants at a power cut");
    }
    // Before everything else: an address that is in use must not leave a new store behind.
    let operations = match args.metrics {
        Some(address) => {
            let operations = Operations::serve(address)
                .with_context(|| format!("cannot serve metrics on {address}"))?;
            info!(log.logger, "serving metrics"; "address" => %operations.address);
            Some(operations)
        }
        None => None,
    };
    let runtime = runtime(args.http_threads).context("cannot start the runtime")?;
    let result = runtime.block_on(serve(args, &log, operations));
    // Threads that read the tokens still have the store open. One of them may wait for a disk that
    // does not answer, and then the process ends without it.
    runtime.shutdown_timeout(LAST_THREADS);
    result
}

/// The threads that speak HTTP. One of them needs no other, which a wake-up would have to reach.
fn runtime(threads: Option<NonZeroUsize>) -> io::Result<Runtime> {
    let cores = available_parallelism().map_or(1, NonZeroUsize::get);
    match threads.map_or(MOST_THREADS.min(1.max(cores / 2)), NonZeroUsize::get) {
        1 => Builder::new_current_thread().enable_all().build(),
        threads => Builder::new_multi_thread().worker_threads(threads).enable_all().build(),
    }
}

async fn serve(args: &Args, log: &Log, operations: Option<Operations>) -> Result<()> {
    let (mut stop, mut hangup) = (Stop::handle()?, signal(SignalKind::hangup())?);
    // With a handler, a write past the limit on file size fails with EFBIG instead of ending the
    // process. A create is then refused as on a full disk.
    let _at_file_size_limit = signal(SignalKind::from_raw(SIGXFSZ as i32))?;

    // Tried first: what is wrong with the flags must not leave a new store behind.
    let cannot_listen = || format!("cannot listen on {}", args.listen);
    drop(TcpListener::bind(args.listen).with_context(cannot_listen)?);
    let url = &args.store.url;
    args.check()?;
    let tls = args.tls();
    let tls_config = tls.as_ref().map(|files| load(files, log)).transpose()?;

    let engine = store::open_to_serve(url, args.start())?;
    let accepted = AcceptedTokens::default();
    let beginning = Beginning::new(
        Arc::clone(&engine),
        accepted.clone(),
        args.first_token.clone(),
        log.logger.clone(),
    );
    let beginning = beginning.attempt().await?;
    let (plants, mut writer_end) =
        GroupCommit::start(engine.writer()?, args.limits(), log.logger.clone())
            .context("cannot start the writer")?;
    let known = accepted.clone();
    let service = Service::new(accepted.clone(), plants.clone(), args.bodies(), log.logger.clone());
    let connections = service.connections();
    let server =
        listen(args.listen, tls_config, service, &log.dropshot).with_context(cannot_listen)?;
    let address = server.local_addr();
    if let Err(error) = send_at_once(address) {
        warn!(log.logger, "the first answer on a connection may take 40 ms more";
            "cause" => %error);
    }
    let most = limit_connections(args, log);

    if let Some(operations) = operations {
        let (plants, connections) = (plants.clone(), Arc::clone(&connections));
        operations.is_ready_by(Box::new(move || match connections.are_ending() {
            true => Err("the service stops"),
            false if !known.are_known() => Err("the store has not been reached yet"),
            false => plants.readiness(),
        }));
    }
    let scheme = if tls.is_some() { "https" } else { "http" };
    announce(scheme, address)?;
    info!(log.logger, "listening"; "address" => %address, "store" => %url);
    let completed = beginning.complete(move |header| show(scheme, address, header));
    let keep_fresh = accepted.keep_fresh(Arc::clone(&engine), log.logger.clone());
    let (begins, begun) = oneshot::channel();
    let mut fresh = tokio::spawn(async {
        match completed.await {
            Ok(()) => {
                // Nobody waits for it where the service stops already.
                let _ = begins.send(());
                match keep_fresh.await {}
            }
            Err(error) => error,
        }
    });
    let tended = async {
        match begun.await {
            Ok(()) => store::tend(Arc::clone(&engine), &plants, log.logger.clone()).await,
            Err(_) => pending().await,
        }
    };
    supervisor::tell(NotifyState::Ready);

    let service = server.app_private();
    let mut lost = tokio::select! {
        () = stop.next() => None,
        end = &mut writer_end => match end {
            Ok(Err(lost)) => Some(lost.into()),
            _ => Some(anyhow!("the writer died")),
        },
        Ok(error) = &mut fresh => Some(error),
        lost = tended => Some(lost.into()),
        never = service.look_after(address, *args.idle_timeout, most) => match never {},
        never = reload(&server, tls.as_ref(), &mut hangup, log) => match never {},
        never = supervisor::feed_watchdog(|| plants.answers()) => match never {},
    };
    info!(log.logger, "stopping");
    supervisor::tell(NotifyState::Stopping);
    // Its connection copies the log into the store's file when it closes. Where the store is lost
    // that must not happen, and where the disk does not answer nobody waits for it.
    let engine = ManuallyDrop::new(engine);
    let closing = tokio::spawn(server.close());
    let stopping = async {
        connections.are_answered().await;
        // The connections that wait for nothing close now, after the last answers are sent. Those
        // that have more to say, or do not read, are not waited for.
        let _ = timeout(LAST_ANSWERS, closing).await;
        if lost.is_none() {
            fresh.abort();
            plants.end().await;
            if let Ok(Err(last)) = writer_end.await {
                lost = Some(last.into());
            }
            let _ = spawn_blocking(|| drop(ManuallyDrop::into_inner(engine))).await;
        }
    };
    tokio::select! {
        stopped = timeout(args.shutdown_timeout.into(), stopping) => match stopped {
            Ok(()) => info!(log.logger, "stopped"),
            Err(_) => warn!(log.logger, "stopped with requests unfinished"),
        },
        () = stop.next() => bail!("stopped at once by a second signal"),
    }
    lost.map_or(Ok(()), Err)
}

/// Returns how many connections there may be: fewer than asked for, where the hard limit on open
/// files does not allow them.
fn limit_connections(args: &Args, log: &Log) -> u64 {
    let asked = args.max_connections.get().into();
    let most = descriptors::limit_clients(asked).unwrap_or(asked);
    if most < asked {
        warn!(log.logger, "the hard limit on open files allows fewer than --max-connections";
            "connections" => most);
    }
    most
}

/// Reads the files of TLS.
fn load(files: &TlsFiles, log: &Log) -> Result<ConfigTls, TlsError> {
    let config = descriptors::beyond_limit(|| files.load())?;
    if files.is_key_open() {
        warn!(log.logger, "everybody on this machine may read the private key: chmod o-r";
            "file" => %files.key.display());
    }
    Ok(config)
}

/// At each SIGHUP reads the files of TLS, for the connections that come then; those that are open
/// go on. Where the files cannot be used, the last ones stay. Never ends.
async fn reload(
    server: &HttpServer<Service>,
    tls: Option<&TlsFiles>,
    hangup: &mut Signal,
    log: &Log,
) -> Infallible {
    loop {
        hangup.recv().await;
        match tls.map(|files| load(files, log)) {
            Some(Ok(config)) => {
                // An error says that the server does not speak TLS.
                let _ = server.refresh_tls(&config).await;
                info!(log.logger, "SIGHUP: new connections use the files of TLS as they are now");
            }
            Some(Err(error)) => {
                error!(log.logger, "SIGHUP: the last files of TLS stay"; "cause" => %error);
            }
            None => info!(log.logger, "SIGHUP: there is nothing to read"),
        }
    }
}

/// The signals that stop the service.
struct Stop {
    terminate: Signal,
    interrupt: Signal,
}

impl Stop {
    fn handle() -> io::Result<Self> {
        let [terminate, interrupt] = [SignalKind::terminate(), SignalKind::interrupt()].map(signal);
        Ok(Self { terminate: terminate?, interrupt: interrupt? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
