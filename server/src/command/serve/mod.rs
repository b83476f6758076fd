//! `plant-store serve`: from the flags to a serving process, and to its end.
//!
//! This file only starts and stops. What happens to a request is in [`crate::http::service`].
//!
//! `--http-threads` threads speak HTTP, one commits, one writes the log, and one answers operators
//! if `--metrics` asks for it. Those that speak HTTP also wait for signals, so none of them opens a
//! file or a store: on a disk that does not answer it would notice no signal.

mod args;
mod beginning;
mod first_token;
mod running;
mod signals;
mod supervisor;
mod tls;

use std::io::{self, IsTerminal};
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::available_parallelism;
use std::time::Duration;

use anyhow::{Context, Result};
use slog::{info, warn};
use tokio::runtime::{Builder, Runtime};

use crate::command::serve::running::{Running, cannot};
use crate::command::serve::signals::Signals;
use crate::log::{Log, LogFormat};
use crate::operations::Operations;

pub use crate::command::serve::args::Args;

/// The most threads that speak HTTP unless a flag asks for more: one writer serves three to four,
/// see the operator's README.
const MOST_THREADS: usize = 4;

/// How long the end of the process waits for threads that use the store.
const LAST_THREADS: Duration = Duration::from_secs(1);

/// Serves until a signal ends it, or until the store fails to sync. `warnings` come first in the log.
pub fn run(args: &Args, warnings: &[String]) -> Result<()> {
    args.check()?;
    let format = args.log_format.unwrap_or(match io::stderr().is_terminal() {
        true => LogFormat::Text,
        false => LogFormat::Json,
    });
    let log =
        Log::start(format, args.log_level, args.log_strangers).context("cannot start the log")?;
    for warning in warnings {
        warn!(log.logger, "{warning}");
    }
    if args.tls_cert.is_none() && !args.listen.ip().is_loopback() {
        warn!(log.logger, "without --tls-cert, tokens travel in plain text: put a proxy that ends TLS \
            in front, on a network that you trust"; "address" => args.listen);
    }
    if args.without_fsync {
        warn!(log.logger, "--without-fsync: the database may lose plants at a power cut");
    }
    // Before everything else: an address that is in use must not leave a new store behind.
    let operations = args.metrics.map(|address| answer_operators(address, &log)).transpose()?;
    let runtime = runtime(args.http_threads).context("cannot start the runtime")?;
    let unseen = Arc::default();
    let result = runtime.block_on(start_and_stop(args, &log, operations, &unseen));
    // Threads that read the tokens still have the store open. One of them may wait for a disk that
    // does not answer, and then the process ends without it.
    runtime.shutdown_timeout(LAST_THREADS);
    if unseen.load(Relaxed) {
        warn!(
            log.logger,
            "stopped before the first token was shown: if `plant-store token list` shows it, run \
             `plant-store token revoke first`; `plant-store token create NAME` makes another"
        );
    }
    result
}

fn answer_operators(address: SocketAddr, log: &Log) -> Result<Operations> {
    let operations =
        Operations::start(address).map_err(|cause| cannot("serve metrics", address, &cause))?;
    info!(log.logger, "serving metrics"; "address" => %operations.address);
    Ok(operations)
}

/// The threads that speak HTTP. A single one never has to wake another, which takes a system call.
fn runtime(threads: Option<NonZeroUsize>) -> io::Result<Runtime> {
    let cores = available_parallelism().map_or(1, NonZeroUsize::get);
    match threads.map_or(MOST_THREADS.min(1.max(cores / 2)), NonZeroUsize::get) {
        1 => Builder::new_current_thread().enable_all().build(),
        threads => Builder::new_multi_thread().worker_threads(threads).enable_all().build(),
    }
}

async fn start_and_stop(
    args: &Args,
    log: &Log,
    operations: Option<Operations>,
    unseen: &Arc<AtomicBool>,
) -> Result<()> {
    let mut signals = Signals::handle()?;
    let mut running = tokio::select! {
        started = Running::start(args, log, operations, Arc::clone(unseen)) => started?,
        () = signals.stop.next() => {
            info!(log.logger, "stopped before the service had started");
            return Ok(());
        }
    };
    let lost = running.until_it_ends(args, &mut signals).await;
    running.stop(lost, args.shutdown_timeout.into(), &mut signals.stop).await
}
