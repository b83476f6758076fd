//! The command line. Each command has a file or a folder with its arguments and its implementation.
//! `openapi` takes only a line and is implemented below.
//!
//! The texts of the commands contain `{program}`, `{resource}`, `{resources}` and `{store_url}`,
//! and the variables of the flags have no prefix. [`names::insert`] replaces them, once for all
//! commands.

mod check;
mod copy;
mod export;
mod names;
mod serve;
mod shared;
mod token;

use std::env;
use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;
use clap::error::ContextKind::{InvalidArg, InvalidSubcommand, InvalidValue};
use clap::error::ContextValue;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use groundwork_store::Kind;
use nix::sys::prctl::set_thp_disable;
use nix::sys::signal::{SigSet, Signal};

use crate::command::check::CannotCheck;
use crate::command::shared::{StoreArgs, error_message, kind_of, print};
use crate::document::document;
use crate::service::Service;

/// Runs the program of a service: parses the command line, runs the command, and reports a failure
/// as one line on stderr.
///
/// The exit code is 0 for success, 1 for a failure, 2 for a command line that cannot be parsed or a
/// store that `check` cannot check, and 3 if a server must not be restarted yet.
#[must_use]
pub fn main(service: &'static Service) -> ExitCode {
    // Disable transparent huge pages (prctl(2), PR_SET_THP_DISABLE). A huge page is resident as a
    // whole even if little of it is used: 1,000 busy connections would take 30 MB more memory, and
    // no less CPU time per create.
    let _ = set_thp_disable(true);
    // Threads inherit the signal mask. With SIGXFSZ blocked, a write past the file size limit fails
    // with EFBIG instead of killing the process.
    let _ = SigSet::from(Signal::SIGXFSZ).thread_block();
    match Cli::read(service).run(service) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let message = error_message(service, &error);
            // stderr may be closed. The exit code reports the failure too.
            let _ = writeln!(io::stderr(), "{}: {message}", service.names.program);
            ExitCode::from(match error {
                error if error.is::<CannotCheck>() => 2,
                error if kind_of(&error) == Some(Kind::Gone) => 3,
                _ => 1,
            })
        }
    }
}

/// Returns the command line of a service, for tools that describe it.
///
/// # Panics
///
/// Panics if a name of the service breaks the rule in the documentation of its field.
#[must_use]
pub fn command_line(service: &Service) -> clap::Command {
    service.assert_names();
    let command = Cli::command().name(service.names.program).about(service.about);
    names::insert(service, command.version(service.release()))
}

#[derive(Debug, Parser)]
#[command(arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(Box<serve::Args>),
    #[command(subcommand)]
    Token(token::Command),
    /// Write all {resources} to standard output as JSON Lines, ordered by id
    ///
    /// The output contains every {resource} that is in the store when the command starts. It may or
    /// may not contain {resources} that are created while the command runs.
    Export(StoreArgs),
    Copy(copy::Args),
    /// Check whether the store is sound, even while a server runs on it
    ///
    /// Runs the integrity check of the database, and reads every row. The digest covers the ids and
    /// the {resources}; `copy` prints the same digest. The exit code is 0 if the store is sound, 1
    /// if it is not, and 2 if it cannot be checked.
    Check(StoreArgs),
    /// Print the OpenAPI document of this release
    ///
    /// The output equals the published document byte for byte, so that you can compare a deployed
    /// service with it.
    Openapi,
}

impl Cli {
    /// Parses the command line. Exits the process if it cannot be parsed or asks for help.
    fn read(service: &Service) -> Self {
        let mut command = names::ignore_empty_variables(command_line(service));
        let matches = command.try_get_matches_from_mut(env::args_os());
        let parsed = matches.and_then(|matches| {
            Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
        });
        parsed.unwrap_or_else(|error| redact_secrets(service, error).exit())
    }

    /// Runs the command. Errors are for the person who typed the command.
    fn run(self, service: &'static Service) -> Result<()> {
        match self.command {
            Command::Serve(args) => serve::run(service, &args),
            Command::Token(command) => token::run(service, command),
            Command::Export(store) => export::run(service, &store),
            Command::Copy(args) => copy::run(service, &args),
            Command::Check(store) => check::run(service, &store),
            Command::Openapi => print(&document(service)),
        }
    }
}

/// Redacts values that may be secrets: a URL with a password, or a token.
fn redact_secrets(service: &Service, mut error: clap::Error) -> clap::Error {
    let flag = error.get(InvalidArg).map(ToString::to_string).unwrap_or_default();
    for kind in [InvalidValue, InvalidArg, InvalidSubcommand] {
        let is_secret = |value: &ContextValue| {
            let is_url = kind == InvalidValue && flag.contains("URL>");
            is_url || value.to_string().contains(service.token_prefix)
        };
        if error.get(kind).is_some_and(is_secret) {
            error.insert(kind, ContextValue::String("…".into()));
        }
    }
    error
}
