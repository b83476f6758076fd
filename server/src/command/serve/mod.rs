//! `plant-store serve`: from the flags to a serving process, and to its end.
//!
//! Nothing here handles a request: [`crate::http::create_plant`] does.
//!
//! `--http-threads` threads speak HTTP, one commits, one writes the log, and one answers operators
//! if `--metrics` asks for it. Those that speak HTTP also wait for signals, so none of them opens a
//! file or a store: on a disk that does not answer it would notice no signal.

mod address;
mod announcement;
mod args;
mod bounds;
mod dry_run;
mod opening;
mod reload;
mod running;
mod signals;
mod starting;
mod tls;
mod unknown_variables;
mod validity;

use std::io::{self, IsTerminal};
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::thread::available_parallelism;
use std::time::Duration;

use anyhow::{Context, Result};
use slog::{Logger, info, warn};
use tokio::runtime::{Builder, Runtime};

use crate::admin::Admin;
use crate::command::serve::address::cannot;
use crate::command::serve::signals::{Stop, hangup};
use crate::command::serve::starting::start;
use crate::command::serve::unknown_variables::unknown_variables;
use crate::log::{Log, LogFormat};

pub use crate::command::serve::args::Args;

/// The most threads that speak HTTP unless a flag asks for more; more were not tried.
const MOST_THREADS: usize = 4;

/// How long the end of the process waits for threads that use the store.
const LAST_THREADS: Duration = Duration::from_secs(1);

/// Serves until a signal ends it, or until the store is lost or the writer dies.
pub fn run(args: &Args) -> Result<()> {
    let default = if io::stderr().is_terminal() { LogFormat::Text } else { LogFormat::Json };
    let log = Log::start(args.log_format.unwrap_or(default), args.log_level)
        .context("cannot start the log")?;
    warn_of_flags(args, &log.logger);
    if args.check {
        return dry_run::run(args, &log.logger);
    }
    // Before everything else: an address that is in use must not leave a new store behind.
    let admin = args.metrics.map(start_admin).transpose()?;
    if let Some(admin) = &admin {
        info!(log.logger, "serving metrics"; "address" => %admin.address);
    }
    let runtime = runtime(args.http_threads).context("cannot start the runtime")?;
    let result = runtime.block_on(start_and_stop(args, &log, admin.as_ref()));
    // Threads that read the tokens still have the store open. One of them may wait for a disk that
    // does not answer, and then the process ends without it.
    runtime.shutdown_timeout(LAST_THREADS);
    result
}

fn start_admin(address: SocketAddr) -> Result<Admin> {
    Admin::start(address).map_err(cannot("serve metrics", address))
}

/// What an operator should know of flags that work.
fn warn_of_flags(args: &Args, log: &Logger) {
    if args.tls.is_none() && !args.listen.ip().is_loopback() {
        warn!(log, "without --tls-cert, tokens travel in plain text: put a proxy that ends TLS in \
            front, on a network that you trust"; "address" => args.listen);
    }
    let unknown = unknown_variables();
    if !unknown.is_empty() {
        warn!(log, "variables that no flag has are ignored"; "variables" => unknown.join(", "));
    }
    if args.without_fsync {
        warn!(log, "--without-fsync: the database may lose plants at a power cut");
    }
}

/// The threads that speak HTTP. A single one never has to wake another, which takes a system call.
fn runtime(threads: Option<u16>) -> io::Result<Runtime> {
    let cores = available_parallelism().map_or(1, NonZeroUsize::get);
    let count = threads.map_or((cores / 2).clamp(1, MOST_THREADS), usize::from);
    if count == 1 {
        return Builder::new_current_thread().enable_all().build();
    }
    Builder::new_multi_thread().worker_threads(count).enable_all().build()
}

async fn start_and_stop(args: &Args, log: &Log, admin: Option<&Admin>) -> Result<()> {
    let mut stop = Stop::listen()?;
    let mut hangup = hangup()?;
    let running = tokio::select! {
        started = start(args, log, admin) => started?,
        () = stop.next() => {
            info!(log.logger, "stopped before the service had started");
            return Ok(());
        }
    };
    running.run(args, &mut stop, &mut hangup).await
}
