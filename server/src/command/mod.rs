//! The command line: a file or a folder for each command, with its arguments and what it does.
//! `openapi` and `completions` are a line or two each, below. What several commands use is in the
//! folder `shared`.

mod backup;
mod check;
mod copy;
mod export;
mod restore;
mod serve;
mod shared;
mod token;

use std::env;

use anyhow::{Context, Result};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;
use plant_store_api::document::document_text;

use crate::command::shared::first_process::end_at_signals_as_first_process;
use crate::command::shared::output::print;
use crate::command::shared::store_args::StoreArgs;
use crate::command::shared::usage_error::without_secrets;
use crate::command::shared::variable::without_empty_variables;
use crate::version::version;

pub use crate::command::shared::in_words::in_words;
pub use crate::command::shared::verdict::CannotCheck;

/// Runs and looks after a plant store: POST /plants creates a plant, durably
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
    /// Write every plant as a JSON object on a line of its own, in the order of the ids
    ///
    /// Every plant that is in the store when the command starts is written. Of those that are
    /// created meanwhile, some are.
    Export(StoreArgs),
    Backup(backup::Args),
    Restore(restore::Args),
    Copy(copy::Args),
    Check(check::Args),
    /// Print the OpenAPI document of this release
    ///
    /// It is the published one byte for byte, so that a deployed service can be compared with it.
    Openapi,
    /// Print completions for a shell
    Completions {
        shell: Shell,
    },
}

impl Cli {
    /// Reads the command line, or ends the process.
    pub fn read() -> Self {
        Self::try_read().unwrap_or_else(|error| without_secrets(error).exit())
    }

    fn try_read() -> Result<Self, clap::Error> {
        let mut command = without_empty_variables(Self::command());
        let matches = command.try_get_matches_from_mut(env::args_os())?;
        Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }

    /// Runs the command. An error is for the person who typed it.
    pub fn run(self) -> Result<()> {
        // `serve` waits for signals itself.
        if !matches!(self.command, Command::Serve(_)) {
            end_at_signals_as_first_process().context("cannot wait for signals")?;
        }
        match self.command {
            Command::Serve(args) => serve::run(&args),
            Command::Token(command) => token::run(command),
            Command::Export(store) => export::run(&store),
            Command::Backup(args) => backup::run(&args),
            Command::Restore(args) => restore::run(&args),
            Command::Copy(args) => copy::run(&args),
            Command::Check(args) => check::run(&args),
            Command::Openapi => print(&document_text()),
            Command::Completions { shell } => {
                // Into memory first: clap_complete panics if it cannot write.
                let mut script = Vec::new();
                clap_complete::generate(shell, &mut Self::command(), "plant-store", &mut script);
                print(str::from_utf8(&script)?)
            }
        }
    }
}
