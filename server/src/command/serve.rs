//! `plant-store serve`: from the flags to a serving process, and to its end.
//!
//! This file only starts and stops. What happens to a request is in [`crate::http::service`].
//!
//! One thread speaks HTTP, one commits, one writes the log, and one serves metrics where
//! `--metrics` asks for it. More threads for HTTP would not make the one writer faster, and each
//! create would cost more CPU time, because the threads wake each other.

use std::io::{self, IsTerminal, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use bytesize::ByteSize;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::Signal;
use slog::{info, warn};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::timeout;

use crate::command::store_args::StoreArgs;
use crate::http::accepted_tokens::AcceptedTokens;
use crate::http::bodies::Bodies;
use crate::http::service::{Service, listen};
use crate::log::{Log, LogFormat, LogLevel};
use crate::metrics;
use crate::store::{self, GroupCommit};
use crate::token::{StoredToken, Token, TokenName};

/// How long a stop waits for connections to close after the last request is answered.
const LAST_ANSWERS: Duration = Duration::from_millis(300);

/// How long the end of the process waits for threads that use the store.
const LAST_THREADS: Duration = Duration::from_secs(1);

/// Serve the API until SIGTERM or SIGINT
///
/// A store that does not exist is created, and a first token is issued and printed.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Address to listen on; port 0 takes any free one
    #[arg(
        long,
        value_name = "ADDRESS",
        env = "PLANT_STORE_LISTEN",
        default_value = "127.0.0.1:8080",
        value_parser = address
    )]
    listen: SocketAddr,

    #[command(flatten)]
    store: StoreArgs,

    /// Start only on a store that is there already
    #[arg(long, env = "PLANT_STORE_NO_CREATE")]
    no_create: bool,

    /// Address to serve Prometheus metrics on, to whoever reaches it: bind it to loopback or to a
    /// private network [default: none]
    #[arg(long, value_name = "ADDRESS", env = "PLANT_STORE_METRICS", value_parser = address)]
    metrics: Option<SocketAddr>,

    /// Largest request body
    #[arg(long, value_name = "SIZE", env = "PLANT_STORE_MAX_BODY", default_value = "1MiB")]
    max_body: ByteSize,

    /// All request bodies together, from their first byte until their plants are committed; what
    /// does not fit is refused with 503
    #[arg(long, value_name = "SIZE", env = "PLANT_STORE_MAX_BODIES", default_value = "64MiB")]
    max_bodies: ByteSize,

    /// How long a request body may take to arrive
    #[arg(
        long,
        value_name = "DURATION",
        env = "PLANT_STORE_BODY_TIMEOUT",
        default_value = "10s",
        value_parser = humantime::parse_duration
    )]
    body_timeout: Duration,

    /// How many creates may wait to be committed; the next ones are refused with 503
    #[arg(long, value_name = "CREATES", env = "PLANT_STORE_QUEUE", default_value = "1024")]
    queue: NonZeroUsize,

    /// How long a commit may run before new creates are refused with 503
    #[arg(
        long,
        value_name = "DURATION",
        env = "PLANT_STORE_COMMIT_TIMEOUT",
        default_value = "10s",
        value_parser = humantime::parse_duration
    )]
    commit_timeout: Duration,

    /// How long requests in flight may take once the server is told to stop
    #[arg(
        long,
        value_name = "DURATION",
        env = "PLANT_STORE_SHUTDOWN_TIMEOUT",
        default_value = "10s",
        value_parser = humantime::parse_duration
    )]
    shutdown_timeout: Duration,

    /// The least important records that the log holds
    #[arg(long, value_name = "LEVEL", env = "PLANT_STORE_LOG_LEVEL", default_value = "info")]
    log_level: LogLevel,

    /// How many records a second the log holds of requests without an accepted token
    #[arg(long, value_name = "RECORDS", env = "PLANT_STORE_LOG_STRANGERS", default_value = "100")]
    log_strangers: u32,

    /// How the log is written [default: text on a terminal, json elsewhere]
    #[arg(long, value_name = "FORMAT", env = "PLANT_STORE_LOG_FORMAT")]
    log_format: Option<LogFormat>,
}

fn address(text: &str) -> Result<SocketAddr, &'static str> {
    text.parse().map_err(|_| "expected IP:PORT, such as 127.0.0.1:8080")
}

/// Serves until a signal ends it, or until the store fails to sync.
pub fn run(args: &Args) -> Result<()> {
    let format = args.log_format.unwrap_or(match io::stderr().is_terminal() {
        true => LogFormat::Text,
        false => LogFormat::Json,
    });
    let log =
        Log::start(format, args.log_level, args.log_strangers).context("cannot start the log")?;
    lift_limit_on_open_files();
    // Before everything else: an address that is in use must not leave a new store behind.
    if let Some(address) = args.metrics {
        let address = metrics::serve(address)
            .with_context(|| format!("cannot serve metrics on {address}"))?;
        info!(log.logger, "serving metrics"; "address" => %address);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    let result = runtime.block_on(serve(args, &log));
    // Threads that read the tokens still have the store open. One of them may wait for a disk that
    // does not answer, and then the process ends without it.
    runtime.shutdown_timeout(LAST_THREADS);
    result
}

/// Each connection is an open file. The usual soft limit of 1,024 protects programs that use
/// select(2), and this one does not; so it takes the hard limit. Where that fails, the server
/// accepts fewer connections at a time.
fn lift_limit_on_open_files() {
    if let Ok((_, allowed)) = getrlimit(Resource::RLIMIT_NOFILE) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, allowed, allowed);
    }
}

async fn serve(args: &Args, log: &Log) -> Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    // With a handler, a write past the limit on file size fails with EFBIG instead of ending the
    // process. A create is then refused as on a full disk.
    let _at_file_size_limit = signal(SignalKind::from_raw(Signal::SIGXFSZ as i32))?;

    let cannot_listen = || format!("cannot listen on {}", args.listen);
    // Tried first: an address that is in use must not leave a new store behind.
    drop(TcpListener::bind(args.listen).with_context(cannot_listen)?);
    let url = &args.store.url;
    let largest = store::largest_plant(url);
    ensure!(
        args.max_body.as_u64() <= largest,
        "--max-body is {}, and {url} holds no plant of more than {largest} bytes",
        args.max_body,
    );
    ensure!(
        args.max_body <= args.max_bodies,
        "--max-body is {}, and --max-bodies is only {}",
        args.max_body,
        args.max_bodies,
    );
    let (engine, created) = store::serve(url, !args.no_create)?;
    let first_token = match created {
        true => {
            let (token, stored) = StoredToken::issue(TokenName::first(), None);
            engine.add_token(&stored)?;
            Some(token)
        }
        false => None,
    };

    let accepted = AcceptedTokens::load(&*engine)?;
    let (plants, mut writer_end) = GroupCommit::start(
        engine.writer()?,
        args.queue.get(),
        args.commit_timeout,
        log.logger.clone(),
    )
    .context("cannot start the writer")?;
    tokio::spawn(accepted.clone().keep_fresh(Arc::clone(&engine), log.logger.clone()));
    let [body, bodies] = [args.max_body, args.max_bodies]
        .map(|size| usize::try_from(size.as_u64()).unwrap_or(usize::MAX));
    let bodies = Bodies::new(body, args.body_timeout, bodies);
    let service = Service::new(accepted, plants.clone(), bodies, log.logger.clone());
    let in_flight = service.in_flight();
    let server = listen(args.listen, service, &log.dropshot).with_context(cannot_listen)?;

    announce(server.local_addr(), first_token.as_ref())?;
    info!(log.logger, "listening"; "address" => %server.local_addr(), "store" => %url);

    let lost = tokio::select! {
        _ = terminate.recv() => None,
        _ = interrupt.recv() => None,
        end = &mut writer_end => match end {
            Ok(Err(lost)) => Some(lost.into()),
            _ => Some(anyhow!("the writer died")),
        },
        lost = store::tend(Arc::clone(&engine), log.logger.clone()) => Some(lost.into()),
    };
    info!(log.logger, "stopping");
    if lost.is_some() {
        // Its connection would copy the log into the store's file when it closes.
        std::mem::forget(Arc::clone(&engine));
    }
    let closing = tokio::spawn(server.close());
    let stopping = async {
        in_flight.close();
        in_flight.wait().await;
        // The connections that wait for nothing close now, after the last answers are sent. Those
        // that have more to say, or do not read, are not waited for.
        let _ = timeout(LAST_ANSWERS, closing).await;
        if lost.is_none() {
            plants.end().await;
            let _ = writer_end.await;
        }
    };
    tokio::select! {
        stopped = timeout(args.shutdown_timeout, stopping) => match stopped {
            Ok(()) => info!(log.logger, "stopped"),
            Err(_) => warn!(log.logger, "stopped with requests unfinished"),
        },
        _ = terminate.recv() => bail!("stopped at once by a second signal"),
        _ = interrupt.recv() => bail!("stopped at once by a second signal"),
    }
    lost.map_or(Ok(()), Err)
}

/// Says where the service listens. For a new store it also prints, once, a command that uses the
/// first token.
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
