//! The steps of a server, in their order: [`open`], [`start`], [`prepare_tokens`], [`announce`],
//! [`wait`], [`stop`].
//!
//! What runs beside the requests is started here: the thread that answers operators before all
//! steps, by [`start`] the one that commits and the task that hands out its outcomes, and by
//! [`wait`] the tasks that read the tokens, look after the store, and reload the files of TLS. The
//! log has its thread before.

use std::net::TcpListener;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use dropshot::ConfigTls;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use plant_store_store::{self as store, Closed, Engine, GroupCommit, LAYOUT, Served, WriterEnd};
use sd_notify::NotifyState;
use slog::{Logger, error, info, warn};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::timeout;

use crate::admin::{Admin, Readiness};
use crate::command::serve::address::cannot;
use crate::command::serve::announcement::{Endpoint, print_announcement};
use crate::command::serve::args::{Args, FirstToken};
use crate::command::serve::opening::{issue_first_token, open_store};
use crate::command::serve::reload::reload_at_hangup;
use crate::command::serve::signals::{Signals, Stop};
use crate::command::serve::threads::http_runtime;
use crate::command::shared::output::is_output_lost;
use crate::http::body::BodyLimits;
use crate::http::known_tokens::KnownTokens;
use crate::http::server::{Server, start_server};
use crate::http::service::Service;
use crate::log::Log;
use crate::token::Token;
use crate::version::version;

/// How long the end of the process waits for threads that use the store.
const LAST_THREADS: Duration = Duration::from_secs(1);

/// How long a stop waits for the last commits and until the store is closed.
const CLOSE_STORE: Duration = Duration::from_secs(5);

/// Signals that come within this time stop the service once: a supervisor and a terminal may send
/// one each.
const ONE_STOP: Duration = Duration::from_secs(1);

/// The thread that commits ended without an order, such as by a panic.
#[derive(Debug, thiserror::Error)]
#[error("the writer died")]
struct WriterDied;

/// What is open before the service listens.
struct Opened {
    /// None if the service does not speak TLS.
    tls: Option<ConfigTls>,
    store: Arc<dyn Engine>,
    /// Whether this start has created the store.
    is_new: bool,
    /// They are read by [`prepare_tokens`].
    tokens: KnownTokens,
}

/// A service that listens.
struct Running {
    server: Server,
    /// How many files the process may have open. This bounds the connections.
    open_files: u64,
    plants: GroupCommit,
    writer_end: WriterEnd,
    /// Those that run until the store is closed. They end when this is dropped.
    tasks: JoinSet<()>,
}

/// Serves from the first step to the last.
pub fn serve(args: &Args, log: &Log) -> Result<()> {
    // Before the store: an address that is in use must not leave a new store behind.
    let start_admin =
        |address| Admin::start(address).map_err(cannot("serve metrics", "--metrics", address));
    let admin = args.metrics.map(start_admin).transpose()?;
    if let Some(admin) = &admin {
        info!(log.logger, "serving metrics"; "address" => %admin.address);
    }
    let runtime = http_runtime(args.http_threads).context("cannot start the runtime")?;
    let result = runtime.block_on(run_steps(args, log, admin.as_ref()));
    // Threads that read the tokens still have the store open. One of them may wait for a disk that
    // does not answer, and then the process ends without it.
    runtime.shutdown_timeout(LAST_THREADS);
    result
}

async fn run_steps(args: &Args, log: &Log, admin: Option<&Admin>) -> Result<()> {
    let mut signals = Signals::register()?;
    let logger = &log.logger;
    let opening = open_on_another_thread(args, logger);
    let Some(opened) = unless_stopped(opening, &mut signals, logger).await? else { return Ok(()) };
    let mut running = start(args, log, &opened)?;
    if let Some(admin) = admin {
        admin.set_readiness(readiness(opened.tokens.clone(), running.plants.clone()));
    }
    let last_steps = async {
        let first_token = prepare_tokens(args, &opened, logger).await?;
        announce(args, &running, &opened, first_token, logger).await
    };
    let ended = match unless_stopped(last_steps, &mut signals, logger).await {
        Ok(Some(())) => wait(args, &mut running, opened, &mut signals, logger).await,
        Ok(None) => Ok(()),
        Err(cause) => Err(cause),
    };
    if let Some(admin) = admin {
        admin.set_stopping();
    }
    stop(args, running, ended, &mut signals, logger).await
}

/// What the step returns; none if a signal ends the start before.
async fn unless_stopped<T>(
    step: impl Future<Output = Result<T>>,
    signals: &mut Signals,
    log: &Logger,
) -> Result<Option<T>> {
    tokio::select! {
        done = step => done.map(Some),
        () = signals.stop.next() => {
            info!(log, "stopped before the service had started");
            Ok(None)
        }
    }
}

/// [`open`] waits for disks, and a thread that speaks HTTP would notice no signal meanwhile.
async fn open_on_another_thread(args: &Args, log: &Logger) -> Result<Opened> {
    let args = args.clone();
    let log = log.clone();
    spawn_blocking(move || open(&args, &log)).await?
}

/// Opens the files of TLS and the store. It waits for a database that is not there yet.
fn open(args: &Args, log: &Logger) -> Result<Opened> {
    // An address that is in use must not leave a new store behind.
    drop(TcpListener::bind(args.listen).map_err(cannot("listen", "--listen", args.listen))?);
    let tls = args.tls.as_ref().map(|files| files.load(log)).transpose()?;
    let Served { store, is_new } = open_store(args, log)?;
    let tokens = KnownTokens::new(args.max_rate, args.max_creates);
    Ok(Opened { tls, store, is_new, tokens })
}

/// Starts the thread that commits and the HTTP server, which listens. Raises the soft limit on open
/// files to the hard one before, because each connection takes a file.
fn start(args: &Args, log: &Log, opened: &Opened) -> Result<Running> {
    let (_, open_files) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, open_files, open_files)
        .context("cannot raise the soft limit on open files to the hard one")?;
    let store = Arc::clone(&opened.store);
    let (plants, writer_end) = GroupCommit::start(store, *args.store_timeout, log.logger.clone())
        .context("cannot start the writer")?;
    let size = usize::try_from(args.max_body.as_u64()).unwrap_or(usize::MAX);
    let bodies = BodyLimits { size, time: *args.body_timeout };
    let tokens = opened.tokens.clone();
    let service =
        Service::new(tokens, plants.clone(), args.max_creates, bodies, log.logger.clone());
    let server = start_server(args.listen, opened.tls.clone(), service, log.dropshot.clone())
        .with_context(|| format!("cannot listen on {}", args.listen))?;
    Ok(Running { server, open_files, plants, writer_end, tasks: JoinSet::new() })
}

/// Issues the first token of a new store, and reads the tokens; until then requests get `error`
/// 503. The steps before may fail, and nobody would see the token of a start that failed.
async fn prepare_tokens(args: &Args, opened: &Opened, log: &Logger) -> Result<Option<Token>> {
    // A token that nobody sees would stay in force.
    let is_wanted = opened.is_new && args.first_token == FirstToken::Print && !is_output_lost();
    let store = Arc::clone(&opened.store);
    let tokens = opened.tokens.clone();
    let log = log.clone();
    let prepare = move || {
        let first_token = is_wanted.then(|| issue_first_token(&*store)).transpose()?;
        if tokens.read(&*store)? == 0 {
            warn!(log, "the store has no token: `plant-store token create NAME` makes one");
        }
        Ok(first_token)
    };
    spawn_blocking(prepare).await?
}

/// Says where the service listens and which limits are in force: to whoever has started it, to the
/// log, and to the supervisor.
async fn announce(
    args: &Args,
    running: &Running,
    opened: &Opened,
    first_token: Option<Token>,
    log: &Logger,
) -> Result<()> {
    let address = running.server.local_addr();
    let endpoint = Endpoint { is_tls: opened.tls.is_some(), address };
    let store = Arc::clone(&opened.store);
    let logger = log.clone();
    // A pipe that nobody reads may be full. Nothing keeps the token after this.
    spawn_blocking(move || print_announcement(endpoint, first_token, &*store, &logger)).await??;
    info!(log, "listening"; "address" => %address, "version" => version(),
        "store" => %args.store.url.absolute(), "is_new" => opened.is_new, "layout" => LAYOUT);
    info!(log, "limits";
        "open_files" => running.open_files,
        "max_creates" => args.max_creates.get(),
        "max_body" => args.max_body.as_u64(),
        "max_rate" => args.max_rate.map(NonZeroU32::get),
        "body_timeout" => %args.body_timeout,
        "store_timeout" => %args.store_timeout,
        "shutdown_timeout" => %args.shutdown_timeout);
    // A supervisor that cannot be told (sd_notify(3)) sees what happens to the process.
    let _ = sd_notify::notify(&[NotifyState::Ready]);
    Ok(())
}

/// Starts what runs beside the requests, and waits for what ends the service: a signal, or as an
/// error that the store is lost or the writer has died.
async fn wait(
    args: &Args,
    running: &mut Running,
    opened: Opened,
    signals: &mut Signals,
    log: &Logger,
) -> Result<()> {
    let Opened { store, tokens, .. } = opened;
    // Requests need the tokens until the last one is answered.
    running.tasks.spawn(tokens.watch(Arc::clone(&store), log.clone()));
    let Signals { stop, hangup } = signals;
    tokio::select! {
        () = stop.next() => Ok(()),
        lost = store::inspect_each_second(store, &running.plants, log.clone()) => Err(lost),
        end = &mut running.writer_end => match end {
            Ok(Err(lost)) => Err(lost),
            _ => Err(WriterDied.into()),
        },
        never = reload_at_hangup(&running.server, args.tls.as_ref(), hangup, log) => match never {},
    }
}

/// Answers the requests in flight, for at most `--shutdown-timeout`, and closes the store. If an
/// error has ended the service, the store stays as after a crash. A signal that comes later than
/// [`ONE_STOP`] ends that early.
async fn stop(
    args: &Args,
    running: Running,
    ended: Result<()>,
    signals: &mut Signals,
    log: &Logger,
) -> Result<()> {
    info!(log, "stopping");
    let _ = sd_notify::notify(&[NotifyState::Stopping]);
    let Running { server, plants, writer_end, tasks, .. } = running;
    let is_sound = ended.is_ok();
    let closing = async {
        // Dropshot also waits for clients that have sent half of a head, or read no answer.
        if timeout(*args.shutdown_timeout, server.close()).await.is_err() {
            warn!(log, "requests are left unfinished");
        }
        drop(tasks);
        if is_sound {
            close_store(&plants, writer_end, log).await
        } else {
            Ok(Closed::AsAfterACrash)
        }
    };
    let closed = tokio::select! {
        closed = closing => closed,
        () = second_stop(&mut signals.stop) => bail!("stopped at once by a second signal"),
    };
    match &closed {
        Ok(Closed::WalLeft { bytes }) => {
            warn!(log, "stopped; the WAL stays, because another program reads the store: the next \
                start copies it into the store's file, which takes longer (`fuser -v` with the \
                path of the -wal file names the program)"; "wal_bytes" => bytes);
        }
        Ok(_) => info!(log, "stopped"),
        Err(cause) => error!(log, "stopped with an error"; "cause" => format!("{cause:#}")),
    }
    ended.and(closed.map(drop))
}

/// Waits for a signal that asks for another stop.
async fn second_stop(stop: &mut Stop) {
    let first = Instant::now();
    while first.elapsed() < ONE_STOP {
        stop.next().await;
    }
}

/// Has the writer commit what is queued and close the store. If that takes too long, such as on a
/// disk that does not answer, the store stays as after a crash.
async fn close_store(plants: &GroupCommit, writer_end: WriterEnd, log: &Logger) -> Result<Closed> {
    plants.end();
    let Ok(end) = timeout(CLOSE_STORE, writer_end).await else {
        warn!(log, "the store is left unclosed: the next start puts it in order");
        return Ok(Closed::AsAfterACrash);
    };
    end.unwrap_or_else(|_| Err(WriterDied.into()))
}

/// Whether the service would take a create, for `/ready`.
fn readiness(tokens: KnownTokens, plants: GroupCommit) -> Readiness {
    Box::new(move || {
        tokens.readiness()?;
        plants.readiness()?;
        Ok(())
    })
}
