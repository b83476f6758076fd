//! The program `plants`: the operations of the contract as commands, and `plants import`. It is a
//! module of the library so that a release can make manual pages from [`command`].
//!
//! The commands are generated from the published document (`generated.rs`): a new operation becomes
//! a command without a change here.

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
use clap_complete::Shell;
use tokio::runtime::Builder;

use crate::{Error, Failure, types};
use connection::Connection;
use generated::CliCommand;
use output::{Output, SourceOfToken};
use signals::interrupted;

type Cli<'a> = generated::Cli<&'a Output>;

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
pub fn main() -> ExitCode {
    let arguments = command().get_matches();
    let ran = Builder::new_current_thread().enable_all().build().map_err(Into::into);
    let ran = ran.and_then(|runtime| {
        let ran = runtime.block_on(run(&arguments));
        // Not waiting for its threads: one may wait for a pipe for ever.
        runtime.shutdown_background();
        ran
    });
    ran.unwrap_or_else(|error| output::failed(&error))
}

/// An error that is no [`Failure`] means that nothing was sent.
async fn run(matches: &ArgMatches) -> Result<ExitCode> {
    let (name, arguments) = matches.subcommand().expect("clap demands a command");
    let connection = Connection::of(matches)?;
    if let Some(operation) = CliCommand::iter().find(|operation| command_name(*operation) == name) {
        return until_interrupted(execute(operation, arguments, &connection)).await;
    }
    match Other::from_arg_matches(matches)? {
        Other::Import(arguments) => import::run(&arguments, &connection).await,
        Other::CheckToken => {
            let checked = async {
                let checked = check_token::check(&connection).await;
                checked.map_err(|error| with_source_of_token(error, &connection))
            };
            until_interrupted(checked).await
        }
        Other::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut command(), "plants", &mut script);
            output::write(&script)?;
            Ok(ExitCode::SUCCESS)
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
    done.map_err(|error| with_source_of_token(of_request(error), connection))?;
    output.finish()
}

/// Runs a command to its end, or until a signal.
async fn until_interrupted(command: impl Future<Output = Result<()>>) -> Result<ExitCode> {
    tokio::select! {
        done = command => done.map(|()| ExitCode::SUCCESS),
        status = interrupted() => Ok(status),
    }
}

/// The failure of a request, if the error of a generated command is one.
fn of_request(error: anyhow::Error) -> anyhow::Error {
    match error.downcast::<Error<types::Error>>() {
        Ok(error) => Failure::from(error).into(),
        Err(other) => other,
    }
}

/// Adds where the token is from, if the service refused the token.
fn with_source_of_token(error: anyhow::Error, connection: &Connection) -> anyhow::Error {
    if error.downcast_ref().is_some_and(Failure::is_unauthorized) {
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

/// The command of an operation, as the generator makes it but for four things: the list of
/// commands shows the first line of its text; the template that the generator does not fill in is
/// left out; and a file with the whole body excludes the flags for its members, which it would
/// overrule, and takes `--ignore-unknown`.
fn operation(operation: CliCommand) -> Command {
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
        .args(arguments.cloned().map(|generated| argument(generated, has_body)))
}

const BODY: &str = "json-body";
const TEMPLATE: &str = "json-body-template";

/// An argument of a command that may have a body.
fn argument(generated: Arg, has_body: bool) -> Arg {
    if generated.get_id() == BODY {
        return generated.help("A file that holds the whole body as JSON; - is stdin");
    }
    let argument = generated.allow_negative_numbers(true);
    if has_body && !argument.is_required_set() {
        return argument.conflicts_with_all([BODY, body::IGNORE_UNKNOWN]);
    }
    argument
}
