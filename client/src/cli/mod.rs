//! The program `plants`: the operations of the contract as commands, and `plants import`. It is a
//! module of the library so that a release can make manual pages from [`command`].
//!
//! The commands are generated from the published document (`generated.rs`): a new operation becomes
//! a command without a change here.

mod connection;
#[rustfmt::skip]
mod generated;
mod import;
mod output;

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;
use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand};
use clap_complete::Shell;

use crate::{Error, types};
use connection::Connection;
use generated::CliCommand;
use output::Output;

type Cli = generated::Cli<Output>;

/// What the generated commands use.
mod contract {
    pub use crate::*;

    /// The generated commands ask for a schema of what they show. Nothing here uses one.
    pub mod schemars {
        pub trait JsonSchema {}
        impl<T> JsonSchema for T {}
    }
}

// The commands that are no operations. As a doc comment, clap would show it.
#[derive(Subcommand)]
enum Other {
    Import(import::Arguments),
    /// Print completions for a shell
    Completions {
        shell: Shell,
    },
}

/// Runs the command of the process's arguments.
#[must_use]
#[tokio::main(flavor = "current_thread")]
pub async fn main() -> ExitCode {
    run(&command().get_matches()).await.unwrap_or_else(|error| output::failed(&error))
}

/// An error that holds no answer of the service means that nothing was sent.
async fn run(matches: &ArgMatches) -> Result<ExitCode> {
    let (name, arguments) = matches.subcommand().expect("clap demands a command");
    let connection = Connection::of(matches)?;
    if let Some(operation) = CliCommand::iter().find(|operation| command_name(*operation) == name) {
        let cli = Cli::new(connection.client()?, Output);
        cli.execute(operation, arguments).await.map_err(|error| {
            match error.is::<Error<types::Error>>() {
                true => error.context(format!("the token is that of {}", connection.source())),
                false => error,
            }
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    match Other::from_arg_matches(matches)? {
        Other::Import(arguments) => return import::run(&arguments, &connection).await,
        Other::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut command(), "plants", &mut script);
            io::stdout().write_all(&script)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The definition of the command line.
#[must_use]
pub fn command() -> Command {
    let operations = Connection::augment_args(Command::new("plants"))
        .version(env!("CARGO_PKG_VERSION"))
        .about("Calls a plant store")
        .after_help(
            "Exit status: 0 after a 200, 1 after anything else, 2 if the command cannot run.",
        )
        .subcommand_required(true)
        .subcommands(CliCommand::iter().map(operation));
    Other::augment_subcommands(operations)
}

fn command_name(operation: CliCommand) -> String {
    operation.operation_id().replace('_', "-")
}

/// The command of an operation, as the generator makes it but for three things: the list of commands
/// shows the first line of its text, the template that the generator does not fill in is left out,
/// and a file with the whole body excludes the flags for its members, which it would overrule.
fn operation(operation: CliCommand) -> Command {
    const BODY: &str = "json-body";
    const TEMPLATE: &str = "json-body-template";
    let generated = Cli::get_command(operation);
    let about = generated.get_about().map(ToString::to_string).unwrap_or_default();
    let first_line = about.lines().next().unwrap_or_default().to_owned();
    let arguments = generated.get_arguments().filter(|argument| argument.get_id() != TEMPLATE);
    let arguments = arguments.cloned().map(|argument| {
        let argument = argument.allow_negative_numbers(true);
        match argument.get_id() == BODY || argument.is_required_set() {
            true => argument,
            false => argument.conflicts_with(BODY),
        }
    });
    Command::new(command_name(operation)).about(first_line).long_about(about).args(arguments)
}
