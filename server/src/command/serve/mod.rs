//! `plant-store serve`: the life of a server process, from its flags to its exit.
//!
//! Nothing here handles a request. That is the task of [`crate::http`].
//!
//! # Threads
//!
//! `--http-threads` threads serve HTTP. One thread commits, one reads the tokens, one writes the
//! log, and one runs the admin listener if `--metrics` is set. Tokio starts further threads for
//! blocking work on a disk or a database, such as the inspection of the store once a second.
//!
//! The HTTP threads also wait for signals, so they must never open a file or a store: while a disk
//! does not respond, they would miss signals.

mod address;
mod announcement;
mod args;
mod bounds;
mod lifecycle;
mod opening;
mod reload;
mod running;
mod shutdown;
mod signals;
mod supervisor;
mod threads;
mod tls;
mod unknown_variables;

use std::io::{self, IsTerminal};

use anyhow::{Context, Result};
use slog::{Logger, warn};

use crate::command::serve::lifecycle::serve;
use crate::command::serve::unknown_variables::unknown_variables;
use crate::log::{Log, LogFormat};

pub use crate::command::serve::args::Args;

/// Serves until a signal arrives, the store is lost or the writer dies.
pub fn run(args: &Args) -> Result<()> {
    let default = if io::stderr().is_terminal() { LogFormat::Text } else { LogFormat::Json };
    let log = Log::start(args.log_format.unwrap_or(default), args.log_level)
        .context("cannot start the log")?;
    warn_of_flags(args, &log.logger);
    serve(args, &log)
}

/// Logs warnings about flags and variables that are valid, but may be a mistake.
fn warn_of_flags(args: &Args, log: &Logger) {
    if args.tls.is_none() && !args.listen.ip().is_loopback() {
        warn!(log, "without --tls-cert, tokens travel in plain text: put a proxy that terminates \
            TLS in front, on a network that you trust"; "address" => args.listen);
    }
    let unknown = unknown_variables();
    if !unknown.is_empty() {
        warn!(log, "unknown environment variables are ignored"; "variables" => unknown.join(", "));
    }
}
