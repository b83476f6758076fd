//! The program `plants`: a command for each operation of the contract, and `plants import`.
//!
//! The commands of the operations are generated from the published document (`generated.rs`), so a
//! new operation becomes a command without a change here.

mod body;
mod check_token;
mod connection;
mod contract;
#[rustfmt::skip]
mod generated;
mod import;
mod input;
mod output;
mod reader;
mod signals;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, Subcommand};
use tokio::runtime::Builder;

use crate::{Error, Failure, types};
use connection::Connection;
use generated::CliCommand;
use output::{Output, TokenSource};
use signals::interrupted;

type Cli<'a> = generated::Cli<&'a Output>;

// The commands that are not operations. This is not a doc comment because clap would show it.
#[derive(Subcommand)]
enum ExtraCommand {
    Import(import::Arguments),
    /// Check whether the service accepts the token, without creating a plant
    CheckToken,
}

/// Parses the process's arguments and runs the command.
#[must_use]
pub fn main() -> ExitCode {
    let arguments = command().get_matches();
    let ran = Builder::new_current_thread().enable_all().build().map_err(Into::into);
    let ran = ran.and_then(|runtime| {
        let ran = runtime.block_on(run(&arguments));
        // Do not wait for the runtime's threads: one may be reading a pipe that never ends.
        runtime.shutdown_background();
        ran
    });
    ran.unwrap_or_else(|error| output::report_failure(&error))
}

/// Runs a command. An error that is not a [`Failure`] means that nothing was sent.
async fn run(matches: &ArgMatches) -> Result<ExitCode> {
    let (name, arguments) = matches.subcommand().expect("clap requires a command");
    let connection = Connection::resolve(matches)?;
    if let Some(operation) = CliCommand::iter().find(|operation| command_name(*operation) == name) {
        return until_interrupted(execute(operation, arguments, &connection)).await;
    }
    match ExtraCommand::from_arg_matches(matches)? {
        ExtraCommand::Import(arguments) => import::run(&arguments, &connection).await,
        ExtraCommand::CheckToken => {
            let checked = async {
                let checked = check_token::check(&connection).await;
                checked.map_err(|error| with_token_source(error, &connection))
            };
            until_interrupted(checked).await
        }
    }
}

/// Runs the command of an operation.
async fn execute(
    operation: CliCommand,
    arguments: &ArgMatches,
    connection: &Connection,
) -> Result<()> {
    let output = Output::default();
    let done = Cli::new(connection.client()?, &output).execute(operation, arguments).await;
    done.map_err(|error| with_token_source(into_failure(error), connection))?;
    output.finish()
}

/// Runs a command until it ends or a signal arrives.
async fn until_interrupted(command: impl Future<Output = Result<()>>) -> Result<ExitCode> {
    tokio::select! {
        done = command => done.map(|()| ExitCode::SUCCESS),
        status = interrupted() => Ok(status),
    }
}

/// Converts the error of a generated command into a [`Failure`], if a request failed.
fn into_failure(error: anyhow::Error) -> anyhow::Error {
    match error.downcast::<Error<types::Error>>() {
        Ok(error) => Failure::from(error).into(),
        Err(other) => other,
    }
}

/// Adds the source of the token, if the service refused the token.
fn with_token_source(error: anyhow::Error, connection: &Connection) -> anyhow::Error {
    if error.downcast_ref().is_some_and(Failure::is_unauthorized) {
        return error.context(TokenSource(connection.token_source()));
    }
    error
}

/// Defines the command line.
/// Returns the command line of `plants`.
#[must_use]
pub fn command() -> Command {
    let operations = Connection::augment_args(Command::new("plants"))
        .version(env!("CARGO_PKG_VERSION"))
        .about("Calls a plant store")
        .after_help(
            "Exit codes: 0 if the command succeeded, 1 if the service refused something or did not \
             respond, 2 if the command cannot run, 130 or 143 after SIGINT or SIGTERM.",
        )
        .subcommand_required(true)
        .subcommands(CliCommand::iter().map(operation_command));
    ExtraCommand::augment_subcommands(operations)
}

fn command_name(operation: CliCommand) -> String {
    operation.operation_id().replace('_', "-")
}

/// Defines the command of an operation. Differs from the generated definition in four ways:
///
/// - The list of commands shows only the first line of the description.
/// - The template of a body is left out, because the generator does not fill it in.
/// - A file with the whole body conflicts with the flags for the members, which it would overrule.
/// - `--ignore-unknown` applies to such a file.
fn operation_command(operation: CliCommand) -> Command {
    let generated = Cli::get_command(operation);
    let about = generated.get_about().map(ToString::to_string).unwrap_or_default();
    let first_line = about.lines().next().unwrap_or_default().to_owned();
    let arguments = generated.get_arguments().filter(|argument| argument.get_id() != TEMPLATE);
    let has_body = generated.get_arguments().any(|argument| argument.get_id() == BODY);
    let ignore_unknown = Arg::new(body::IGNORE_UNKNOWN)
        .long(body::IGNORE_UNKNOWN)
        .action(ArgAction::SetTrue)
        .display_order(99)
        .help("Send the body without the members that the contract does not have");
    Command::new(command_name(operation))
        .about(first_line)
        .long_about(about)
        .args(has_body.then_some(ignore_unknown))
        .args(arguments.cloned().map(|generated| adapt(generated, has_body)))
}

const BODY: &str = "json-body";
const TEMPLATE: &str = "json-body-template";

/// Adapts a generated argument of a command that may have a body.
fn adapt(generated: Arg, has_body: bool) -> Arg {
    if generated.get_id() == BODY {
        return generated.help("File that contains the whole body as JSON; - is standard input");
    }
    let argument = generated.allow_negative_numbers(true);
    if has_body && !argument.is_required_set() {
        return argument.conflicts_with_all([BODY, body::IGNORE_UNKNOWN]);
    }
    argument
}
