//! The lifecycle of a server: [`open`] its resources, [`Running::start`], [`prepare_tokens`],
//! [`announce`], [`wait`] for its end, and [`stop`].
//!
//! This module also starts everything that runs beside the requests. The admin listener is started
//! first. [`Running::start`] starts the writer, the task that delivers the outcomes of commits, and
//! the thread that reads the tokens. [`wait`] runs the inspection of the store and the reload of
//! the TLS files. Only the log thread is started earlier.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use plant_store_store::{self as store, LAYOUT};
use slog::{Logger, info, warn};
use tokio::task::spawn_blocking;

use crate::admin::{Admin, Readiness};
use crate::command::serve::address::bind_error;
use crate::command::serve::announcement::{Endpoint, issue_first_token, print_address};
use crate::command::serve::args::{Args, FirstToken};
use crate::command::serve::opening::{Opened, open};
use crate::command::serve::reload::reload_at_hangup;
use crate::command::serve::running::Running;
use crate::command::serve::shutdown::{WriterDied, stop};
use crate::command::serve::signals::Signals;
use crate::command::serve::supervisor::{READY, notify_supervisor};
use crate::command::serve::threads::http_runtime;
use crate::http::service::Service;
use crate::log::Log;
use crate::version::version;

/// How long the process waits for blocking threads before it exits.
const THREADS_TIMEOUT: Duration = Duration::from_secs(1);

/// Runs a server from its start to its end.
pub fn serve(args: &Args, log: &Log) -> Result<()> {
    // Before the store is created, so that an address in use leaves no new store behind.
    let start_admin = |address| {
        let started = Admin::start(address, log.dropshot.clone());
        started.map_err(bind_error("serve metrics", "--metrics", address))
    };
    let admin = args.metrics.map(start_admin).transpose()?;
    if let Some(admin) = &admin {
        info!(log.logger, "serving metrics"; "address" => %admin.address);
    }
    let runtime = http_runtime(args.http_threads).context("cannot start the runtime")?;
    let result = runtime.block_on(run(args, log, admin.as_ref()));
    // Blocking threads may still use the store. If one of them waits for a disk that does not
    // respond, the process exits without it.
    runtime.shutdown_timeout(THREADS_TIMEOUT);
    result
}

async fn run(args: &Args, log: &Log, admin: Option<&Admin>) -> Result<()> {
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
    let starting = async {
        prepare_tokens(args, endpoint, opened.is_new, &running.service, logger).await?;
        announce(args, endpoint, &opened, running.open_files, logger).await
    };
    let ended = match unless_stopped(starting, &mut signals, logger).await {
        Ok(Some(())) => wait(args, &mut running, &mut signals, logger).await,
        Ok(None) => Ok(()),
        Err(cause) => Err(cause),
    };
    if let Some(admin) = admin {
        admin.set_stopping();
    }
    stop(args, running, ended, &mut signals.stop, logger).await
}

/// Runs a step of the start. Returns `None` if a signal arrives before the step is complete.
async fn unless_stopped<T>(
    step: impl Future<Output = Result<T>>,
    signals: &mut Signals,
    log: &Logger,
) -> Result<Option<T>> {
    tokio::select! {
        done = step => done.map(Some),
        () = signals.stop.next() => {
            info!(log, "stopped before the service started");
            Ok(None)
        }
    }
}

/// Runs [`open`] on a blocking thread. It waits for disks, and an HTTP thread would miss signals in
/// the meantime.
async fn open_on_another_thread(args: &Args, log: &Logger) -> Result<Opened> {
    let args = args.clone();
    let log = log.clone();
    spawn_blocking(move || open(&args, &log)).await?
}

/// Issues the first token of a new store, and reads the tokens. Until then, requests get `error`
/// 503.
///
/// This comes after the steps that may fail, because a start that fails must not print a token.
async fn prepare_tokens(
    args: &Args,
    endpoint: Endpoint,
    is_new: bool,
    service: &Arc<Service>,
    log: &Logger,
) -> Result<()> {
    let issues_first_token = is_new && args.first_token == FirstToken::Print;
    let service = Arc::clone(service);
    let log = log.clone();
    // On a blocking thread, because stdout may be a full pipe that nobody reads.
    let prepare = move || {
        if issues_first_token {
            issue_first_token(endpoint, &*service.store)?;
        }
        if service.tokens.read(&*service.store)? == 0 {
            warn!(log, "the store has no token: create one with `plant-store token create NAME`");
        }
        Ok(())
    };
    spawn_blocking(prepare).await?
}

/// Prints where the server listens, logs the address and the limits, and notifies the supervisor.
async fn announce(
    args: &Args,
    endpoint: Endpoint,
    opened: &Opened,
    open_files: u64,
    log: &Logger,
) -> Result<()> {
    let logger = log.clone();
    // On a blocking thread, because stdout may be a full pipe that nobody reads.
    spawn_blocking(move || print_address(endpoint, &logger)).await?;
    info!(log, "listening"; "address" => %endpoint.address, "version" => version(),
        "store" => %args.store.url.absolute(), "is_new" => opened.is_new, "layout" => LAYOUT);
    info!(log, "limits";
        "open_files" => open_files,
        "max_creates" => args.max_creates.get(),
        "max_body" => args.max_body.as_u64(),
        "body_timeout" => %args.body_timeout,
        "store_timeout" => %args.store_timeout,
        "shutdown_timeout" => %args.shutdown_timeout);
    notify_supervisor(READY);
    Ok(())
}

/// Runs the background tasks until the service must end. Returns `Ok` after a signal, and an error
/// if the store is lost or the writer has died.
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

/// Returns the check behind `/ready`: whether the service accepts creates.
fn readiness(service: &Service) -> Readiness {
    // Clone only these parts of the service. With the whole service, the admin listener would keep
    // the store open until the process exits.
    let tokens = Arc::clone(&service.tokens);
    let commits = service.commits.clone();
    Box::new(move || {
        tokens.readiness()?;
        commits.readiness()?;
        Ok(())
    })
}
