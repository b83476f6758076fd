//! `plants`: the operations of the contract as commands, and `plants import`.
//!
//! The commands are generated from the published document (`generated.rs`): a new operation becomes
//! a command without a change here.

mod connection;
#[allow(
    clippy::all,
    clippy::pedantic,
    dead_code,
    unused_imports,
    unused_variables,
    reason = "generated: the generator decides how it reads"
)]
#[rustfmt::skip]
mod generated;
mod import;
mod output;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::builder::Arg;
use clap::{ArgMatches, Args, Command, FromArgMatches, value_parser};
use clap_complete::Shell;

use connection::Connection;
use generated::CliCommand;
use output::Output;

type Cli = generated::Cli<Output>;

/// What the generated commands use.
mod contract {
    pub use plant_store_client::*;

    /// The generated commands ask for a schema of what they show. Nothing here uses one.
    pub mod schemars {
        pub trait JsonSchema {}
        impl<T> JsonSchema for T {}
    }
}

const IMPORT: &str = "import";
const COMPLETIONS: &str = "completions";
const MAN: &str = "man";

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    run(&command().get_matches()).await.unwrap_or_else(|error| output::failed(&error))
}

/// An error that holds no answer of the service means that nothing was sent.
async fn run(matches: &ArgMatches) -> Result<ExitCode> {
    let (name, arguments) = matches.subcommand().expect("clap demands a command");
    if name == COMPLETIONS {
        let shell = *arguments.get_one::<Shell>("shell").expect("clap demands a shell");
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut command(), "plants", &mut script);
        io::stdout().write_all(&script)?;
        return Ok(ExitCode::SUCCESS);
    }
    if name == MAN {
        let folder = arguments.get_one::<PathBuf>("folder").expect("clap demands a folder");
        write_manual(folder).with_context(|| format!("cannot write into {}", folder.display()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let connection = Connection::from_arg_matches(matches)?;
    if name == IMPORT {
        let arguments = import::Arguments::from_arg_matches(arguments)?;
        return import::run(&arguments, &connection).await;
    }
    let operation = CliCommand::iter().find(|operation| command_name(*operation) == name);
    let operation = operation.expect("clap knows no other commands");
    Cli::new(connection.client()?, Output).execute(operation, arguments).await?;
    Ok(ExitCode::SUCCESS)
}

fn command() -> Command {
    let shell = Arg::new("shell").required(true).value_parser(value_parser!(Shell));
    let folder = Arg::new("folder").required(true).value_parser(value_parser!(PathBuf));
    Connection::augment_args(Command::new("plants"))
        .version(env!("CARGO_PKG_VERSION"))
        .about("Calls a plant store")
        .after_help("Exit status: 0 after a 200, 1 after anything else, 2 if nothing was sent.")
        .subcommand_required(true)
        .subcommands(CliCommand::iter().map(operation))
        .subcommand(import::Arguments::augment_args(Command::new(IMPORT)))
        .subcommand(Command::new(COMPLETIONS).about("Print completions for a shell").arg(shell))
        .subcommand(Command::new(MAN).about("Write the manual pages").arg(folder).hide(true))
}

/// One page for each command.
fn write_manual(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    clap_mangen::generate_to(command(), folder)
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
