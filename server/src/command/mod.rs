//! The command line. Each command has a file or a folder with its arguments and its implementation.
//! `openapi` takes only a line and is implemented below. The folder `shared` contains the code that
//! several commands use.

mod check;
mod copy;
mod export;
mod serve;
mod shared;
mod token;

use std::env;

use anyhow::{Context, Result};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use plant_store_api::document::document_text;

use crate::command::shared::output::print;
use crate::command::shared::pid_1::exit_on_signals_as_pid_1;
use crate::command::shared::store_args::StoreArgs;
use crate::command::shared::usage_error::redact_secrets;
use crate::command::shared::variable::ignore_empty_variables;
use crate::version::version;

pub use crate::command::check::CannotCheck;
pub use crate::command::shared::error_message::error_message;

/// Run and maintain a plant store: POST /plants creates a plant durably
#[derive(Debug, Parser)]
#[command(
    name = "plant-store",
    version = version(),
    arg_required_else_help = true
)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(Box<serve::Args>),
    #[command(subcommand)]
    Token(token::Command),
    /// Write all plants to standard output as JSON Lines, ordered by id
    ///
    /// The output contains every plant that is in the store when the command starts. It may or may
    /// not contain plants that are created while the command runs.
    Export(StoreArgs),
    Copy(copy::Args),
    Check(check::Args),
    /// Print the OpenAPI document of this release
    ///
    /// The output equals the published document byte for byte, so that you can compare a deployed
    /// service with it.
    Openapi,
}

impl Cli {
    /// Parses the command line. Exits the process if it cannot be parsed or asks for help.
    pub fn read() -> Self {
        Self::try_read().unwrap_or_else(|error| redact_secrets(error).exit())
    }

    fn try_read() -> Result<Self, clap::Error> {
        let mut command = ignore_empty_variables(Self::command());
        let matches = command.try_get_matches_from_mut(env::args_os())?;
        Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }

    /// Runs the command. Errors are for the person who typed the command.
    pub fn run(self) -> Result<()> {
        // `serve` handles signals itself.
        if !matches!(self.command, Command::Serve(_)) {
            exit_on_signals_as_pid_1().context("cannot handle signals")?;
        }
        match self.command {
            Command::Serve(args) => serve::run(&args),
            Command::Token(command) => token::run(command),
            Command::Export(store) => export::run(&store),
            Command::Copy(args) => copy::run(&args),
            Command::Check(args) => check::run(&args),
            Command::Openapi => print(&document_text()),
        }
    }
}
