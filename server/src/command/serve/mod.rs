//! `plant-store serve`: from the flags to a serving process, and to its end.
//!
//! Nothing here handles a request: [`crate::http`] does.
//!
//! `--http-threads` threads speak HTTP, one commits, one reads the tokens, one writes the log, and
//! one answers operators if `--metrics` asks for it. Tokio starts others for what waits for a disk
//! or a database, such as the look at the store once a second. Those that speak HTTP also wait for signals, so none of them opens a
//! file or a store: on a disk that does not answer it would notice no signal.

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

/// Serves until a signal ends it, or until the store is lost or the writer dies.
pub fn run(args: &Args) -> Result<()> {
    let default = if io::stderr().is_terminal() { LogFormat::Text } else { LogFormat::Json };
    let log = Log::start(args.log_format.unwrap_or(default), args.log_level)
        .context("cannot start the log")?;
    warn_of_flags(args, &log.logger);
    serve(args, &log)
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
}
