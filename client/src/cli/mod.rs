//! The program `plants`: the operations of the contract as commands, and `plants import`. It is a
//! module of the library so that a release can make manual pages from [`command`].
//!
//! The commands are generated from the published document (`generated.rs`): a new operation becomes
//! a command without a change here.

mod body;
mod check_token;
mod connection;
mod contract;
mod create;
#[rustfmt::skip]
mod generated;
mod import;
#[rustfmt::skip]
mod members;
mod output;
#[rustfmt::skip]
#[allow(dead_code, reason = "the generated client makes most requests")]
mod paths;

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, Subcommand};
use clap_complete::Shell;

use crate::{Error, ErrorCode, types};
use body::IGNORE_UNKNOWN;
use connection::Connection;
use generated::CliCommand;
use output::{Output, SourceOfToken};

type Cli = generated::Cli<Output>;

// The commands that are no operations. As a doc comment, clap would show it.
#[derive(Subcommand)]
enum Other {
    Import(import::Arguments),
    /// Say whether the service accepts the token, and create nothing
    CheckToken,
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

/// An error that is no [`Error`] of the generated client means that nothing was sent.
async fn run(matches: &ArgMatches) -> Result<ExitCode> {
    let (name, arguments) = matches.subcommand().expect("clap demands a command");
    let connection = Connection::of(matches)?;
    if let Some(operation) = CliCommand::iter().find(|operation| command_name(*operation) == name) {
        let cli = Cli::new(connection.client()?, Output);
        let done = cli.execute(operation, arguments).await;
        done.map_err(|error| with_source_of_token(error, &connection))?;
        return Ok(ExitCode::SUCCESS);
    }
    match Other::from_arg_matches(matches)? {
        Other::Import(arguments) => return import::run(&arguments, &connection).await,
        Other::CheckToken => {
            let checked = check_token::check(&connection).await;
            checked.map_err(|error| with_source_of_token(error, &connection))?;
        }
        Other::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut command(), "plants", &mut script);
            io::stdout().write_all(&script)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Adds where the token is from, if the service refused the token.
fn with_source_of_token(error: anyhow::Error, connection: &Connection) -> anyhow::Error {
    if let Some(Error::ErrorResponse(refusal)) = error.downcast_ref::<Error<types::Error>>()
        && ErrorCode::from(refusal.error) == ErrorCode::Unauthorized
    {
        return error.context(SourceOfToken(connection.source()));
    }
    error
}

/// The definition of the command line.
#[must_use]
pub fn command() -> Command {
    let operations = Connection::augment_args(Command::new("plants"))
        .version(env!("CARGO_PKG_VERSION"))
        .about("Calls a plant store")
        .after_help(
            "Exit status: 0 if all was done, 1 if something was refused or no answer came, 2 if \
             the command cannot run, 130 or 143 after a signal (SIGINT, SIGTERM).",
        )
        .subcommand_required(true)
        .subcommands(CliCommand::iter().map(operation));
    Other::augment_subcommands(operations)
}

fn command_name(operation: CliCommand) -> String {
    operation.operation_id().replace('_', "-")
}

/// The command of an operation, as the generator makes it but for four things: the list of commands
/// shows the first line of its text; the template that the generator does not fill in is left out;
/// a file with the whole body excludes the flags for its members, which it would overrule; and a
/// flag has members sent that the contract does not have.
fn operation(operation: CliCommand) -> Command {
    let generated = Cli::get_command(operation);
    let about = generated.get_about().map(ToString::to_string).unwrap_or_default();
    let first_line = about.lines().next().unwrap_or_default().to_owned();
    let arguments = generated.get_arguments().filter(|argument| argument.get_id() != TEMPLATE);
    let has_body = generated.get_arguments().any(|argument| argument.get_id() == BODY);
    Command::new(command_name(operation))
        .about(first_line)
        .long_about(about)
        .args(arguments.cloned().map(|generated| argument(generated, has_body)))
        .args(has_body.then(ignore_unknown))
}

const BODY: &str = "json-body";
const TEMPLATE: &str = "json-body-template";

/// An argument of a command that may have a body.
fn argument(generated: Arg, has_body: bool) -> Arg {
    if generated.get_id() == BODY {
        return generated.help("A file that holds the whole body as JSON; - is standard input");
    }
    let argument = generated.allow_negative_numbers(true);
    if has_body && !argument.is_required_set() { argument.conflicts_with(BODY) } else { argument }
}

fn ignore_unknown() -> Arg {
    Arg::new(IGNORE_UNKNOWN)
        .long(IGNORE_UNKNOWN)
        .action(ArgAction::SetTrue)
        .requires(BODY)
        .help("Send a body that has members which the contract does not have")
}
