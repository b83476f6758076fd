//! The life of a server, step by step: [`open`] what it needs, [`Running::start`],
//! [`prepare_tokens`], [`announce`], [`wait`] for its end, and [`stop`].
//!
//! What runs beside the requests is started here: the thread that answers operators before all
//! steps, by [`Running::start`] the writer's thread, the task that hands out its outcomes and the
//! thread that reads the tokens, and by [`wait`] what looks after the store and reloads the files of
//! TLS. The log has its thread before.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use plant_store_store::{self as store, LAYOUT};
use slog::{Logger, info, warn};
use tokio::task::spawn_blocking;

use crate::admin::{Admin, Readiness};
use crate::command::serve::address::cannot;
use crate::command::serve::announcement::{Endpoint, issue_first_token, print_address};
use crate::command::serve::args::{Args, FirstToken};
use crate::command::serve::opening::{Opened, open};
use crate::command::serve::reload::reload_at_hangup;
use crate::command::serve::running::Running;
use crate::command::serve::shutdown::{WriterDied, stop};
use crate::command::serve::signals::Signals;
use crate::command::serve::supervisor::{READY, tell_supervisor};
use crate::command::serve::threads::http_runtime;
use crate::http::service::Service;
use crate::log::Log;
use crate::version::version;

/// How long the end of the process waits for threads that use the store.
const LAST_THREADS: Duration = Duration::from_secs(1);

/// Serves from the first step to the last.
pub fn serve(args: &Args, log: &Log) -> Result<()> {
    // Before the store: an address that is in use must not leave a new store behind.
    let start_admin = |address| {
        let started = Admin::start(address, log.dropshot.clone());
        started.map_err(cannot("serve metrics", "--metrics", address))
    };
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
    let mut running = Running::start(args, log, &opened)?;
    if let Some(admin) = admin {
        admin.set_readiness(readiness(&running.service));
    }
    let is_tls = opened.tls.is_some();
    let endpoint = Endpoint { is_tls, address: running.server.local_addr() };
    let last_steps = async {
        prepare_tokens(args, endpoint, opened.is_new, &running.service, logger).await?;
        announce(args, endpoint, &opened, running.open_files, logger).await
    };
    let ended = match unless_stopped(last_steps, &mut signals, logger).await {
        Ok(Some(())) => wait(args, &mut running, &mut signals, logger).await,
        Ok(None) => Ok(()),
        Err(cause) => Err(cause),
    };
    if let Some(admin) = admin {
        admin.set_stopping();
    }
    stop(args, running, ended, &mut signals.stop, logger).await
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

/// Issues the first token of a new store, and reads the tokens; until then requests get `error`
/// 503. The steps before may fail, and a start that fails must not have printed a token.
async fn prepare_tokens(
    args: &Args,
    endpoint: Endpoint,
    is_new: bool,
    service: &Arc<Service>,
    log: &Logger,
) -> Result<()> {
    let is_first_wanted = is_new && args.first_token == FirstToken::Print;
    let service = Arc::clone(service);
    let log = log.clone();
    // Not on this thread: a pipe that nobody reads may be full.
    let prepare = move || {
        if is_first_wanted {
            issue_first_token(endpoint, &*service.store)?;
        }
        if service.tokens.read(&*service.store)? == 0 {
            warn!(log, "the store has no token: `plant-store token create NAME` makes one");
        }
        Ok(())
    };
    spawn_blocking(prepare).await?
}

/// Says where the service listens and which limits are in force: to whoever has started it, to the
/// log, and to the supervisor.
async fn announce(
    args: &Args,
    endpoint: Endpoint,
    opened: &Opened,
    open_files: u64,
    log: &Logger,
) -> Result<()> {
    let logger = log.clone();
    // Not on this thread: a pipe that nobody reads may be full.
    spawn_blocking(move || print_address(endpoint, &logger)).await?;
    info!(log, "listening"; "address" => %endpoint.address, "version" => version(),
        "store" => %args.store.url.absolute(), "is_new" => opened.is_new, "layout" => LAYOUT);
    info!(log, "limits";
        "open_files" => open_files,
        "max_creates" => args.max_creates.get(),
        "max_body" => args.max_body.as_u64(),
        "max_rate" => args.max_rate.map(NonZeroU32::get),
        "body_timeout" => %args.body_timeout,
        "store_timeout" => %args.store_timeout,
        "shutdown_timeout" => %args.shutdown_timeout);
    tell_supervisor(READY);
    Ok(())
}

/// Starts what runs beside the requests, and waits for what ends the service: a signal, or as an
/// error that the store is lost or the writer has died.
async fn wait(
    args: &Args,
    running: &mut Running,
    signals: &mut Signals,
    log: &Logger,
) -> Result<()> {
    let Service { store, commits, .. } = &*running.service;
    let Signals { stop, hangup } = signals;
    tokio::select! {
        () = stop.next() => Ok(()),
        lost = store::inspect_each_second(Arc::clone(store), commits, log.clone()) => Err(lost),
        end = &mut running.writer_end => match end {
            Ok(Err(lost)) => Err(lost),
            _ => Err(WriterDied.into()),
        },
        never = reload_at_hangup(&running.server, args.tls.as_ref(), hangup, log) => match never {},
    }
}

/// Whether the service would take a create, for `/ready`.
fn readiness(service: &Service) -> Readiness {
    // Not the service itself: the admin listener would keep its store open to the end.
    let tokens = Arc::clone(&service.tokens);
    let commits = service.commits.clone();
    Box::new(move || {
        tokens.readiness()?;
        commits.readiness()?;
        Ok(())
    })
}
