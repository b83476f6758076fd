//! The program `plants`: a command for each operation of the contract, and `plants import`.
//!
//! The commands of the operations are generated from the published document (`generated.rs`), so a
//! new operation becomes a command without a change here.

mod connection;
mod contract;
#[rustfmt::skip]
mod generated;
mod import;

use std::any::TypeId;
use std::cell::Cell;
use std::fmt::Debug;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use anyhow::Result;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, Subcommand};
use groundwork_client::{OperationInfo, escape_control};
use reqwest::header::CONTENT_TYPE;
use serde::Serialize;
use serde_json::json;
use tokio::runtime::Builder;

use crate::{Client, ClientInfo, Error, Failure, Refusal, ResponseValue};
use connection::Connection;
use generated::{Cli, CliCommand, CliConfig};

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
    let runtime = Builder::new_current_thread().enable_all().build().map_err(Into::into);
    let ran = runtime.and_then(|runtime| {
        let ran = runtime.block_on(run(&arguments));
        // Do not wait for the lookup of a host name, which may take longer than its request.
        runtime.shutdown_background();
        ran
    });
    ran.unwrap_or_else(|error| {
        let failure = error.downcast_ref::<Failure>();
        match failure {
            Some(Failure::Refused { code, message, .. }) if !io::stderr().is_terminal() => {
                say(&json!({ "error": code.as_u16(), "message": message }).to_string());
            }
            _ => say(&format!("plants: {error:#}")),
        }
        let was_sent = failure.is_some() || error.is::<StdoutError>();
        ExitCode::from(if was_sent { 1 } else { 2 })
    })
}

/// Runs a command. An error that is neither a [`Failure`] nor a [`StdoutError`] means that nothing
/// was sent.
async fn run(matches: &ArgMatches) -> Result<ExitCode> {
    let (name, arguments) = matches.subcommand().expect("clap requires a command");
    let connection = Connection::resolve(matches)?;
    if let Some(operation) = CliCommand::iter().find(|operation| command_name(*operation) == name) {
        let client = connection.client()?;
        execute(client, operation, arguments).await?;
        return Ok(ExitCode::SUCCESS);
    }
    match ExtraCommand::from_arg_matches(matches)? {
        ExtraCommand::Import(arguments) => import::run(&arguments, connection.client()?).await,
        ExtraCommand::CheckToken => {
            check_token(&connection.client()?).await?;
            write(b"{\"accepted\":true}\n")?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Runs the command of an operation.
async fn execute(client: Client, operation: CliCommand, arguments: &ArgMatches) -> Result<()> {
    let output = Output::default();
    let done = Cli::new(client, &output).execute(operation, arguments).await;
    done.map_err(|error| match error.downcast::<Error<Refusal>>() {
        Ok(error) => Failure::from(error).into(),
        Err(other) => other,
    })?;
    output.0.take().map_or(Ok(()), |error| Err(error.into()))
}

/// Sends a body that every service refuses, because it is not an object. The service checks the
/// token first, so that `error` 400 means that it accepts the token.
async fn check_token(client: &Client) -> Result<()> {
    let request = client.client().post(format!("{}/plants", client.baseurl()));
    let request = request.header(CONTENT_TYPE, "application/json").body("null").build()?;
    let operation = OperationInfo { operation_id: "create_plant" };
    let sent = client.inner().send(client.client(), request, &operation).await;
    let response = sent.map_err(Failure::NoResponse)?;
    if response.status() != 400 {
        return Err(Failure::from(Error::UnexpectedResponse(response)).into());
    }
    let refusal = ResponseValue::<Refusal>::from_response(response).await.map_err(Failure::from)?;
    if refusal.error != 400 {
        return Err(Failure::from(Error::ErrorResponse(refusal)).into());
    }
    Ok(())
}

/// Returns the command line of `plants`.
#[must_use]
pub fn command() -> Command {
    let operations = Connection::augment_args(Command::new("plants"))
        .version(env!("CARGO_PKG_VERSION"))
        .about("Calls a plant store")
        .after_help(
            "Exit codes: 0 if the command succeeded, 1 if the service refused something or did not \
             respond, 2 if the command cannot run.",
        )
        .subcommand_required(true)
        .subcommands(CliCommand::iter().map(operation_command));
    ExtraCommand::augment_subcommands(operations)
}

fn command_name(operation: CliCommand) -> String {
    operation.operation_id().replace('_', "-")
}

/// Defines the command of an operation: the generated definition, with the first line of the
/// description in the list of commands, and without the template of a body, which the generator
/// does not fill in.
fn operation_command(operation: CliCommand) -> Command {
    let generated = Cli::<&Output>::get_command(operation);
    let about = generated.get_about().map(ToString::to_string).unwrap_or_default();
    let first_line = about.lines().next().unwrap_or_default().to_owned();
    let arguments = generated.get_arguments().filter(|one| one.get_id() != "json-body-template");
    Command::new(command_name(operation))
        .about(first_line)
        .long_about(about)
        .args(arguments.cloned().map(adapt))
}

/// Adapts a generated argument. An integer is written as in JSON, and a value may begin with a
/// dash. A file with the whole body conflicts with the members, which it would overrule.
fn adapt(argument: Arg) -> Arg {
    if argument.get_id() == "json-body" {
        return argument;
    }
    let is_integer = argument.get_value_parser().type_id() == TypeId::of::<i64>();
    let argument = argument.allow_hyphen_values(true).conflicts_with("json-body");
    if is_integer {
        return argument.value_parser(|text: &str| serde_json::from_str::<i64>(text));
    }
    argument
}

/// Prints the responses of the service. The methods of [`CliConfig`] return nothing, so an error is
/// kept here.
#[derive(Default)]
struct Output(Cell<Option<StdoutError>>);

impl CliConfig for &Output {
    fn success_item<T: Serialize + Debug>(&self, value: &ResponseValue<T>) {
        self.list_item(&**value);
    }

    fn success_no_item(&self, _: &ResponseValue<()>) {}

    fn error<T: Serialize + Debug>(&self, _: &Error<T>) {}

    fn list_start<T: Serialize + Debug>(&self) {}

    fn list_item<T: Serialize + Debug>(&self, value: &T) {
        // JSON allows DEL and the C1 control characters in a text, and a terminal would obey them.
        let escaped = |one: char| match one {
            '\u{7f}'..='\u{9f}' => format!("\\u{:04x}", u32::from(one)),
            _ => one.to_string(),
        };
        let line: String = json!(value).to_string().chars().map(escaped).collect();
        self.0.set(write(format!("{line}\n").as_bytes()).err());
    }

    fn list_end_success<T: Serialize + Debug>(&self) {}

    fn list_end_error<T: Serialize + Debug>(&self, _: &Error<T>) {}
}

/// The output of a command could not be written: the disk is full, or the reader of the pipe is
/// gone.
#[derive(Debug, thiserror::Error)]
#[error("cannot write to standard output")]
struct StdoutError(#[from] io::Error);

/// Writes to stdout.
fn write(text: &[u8]) -> Result<(), StdoutError> {
    let mut stdout = io::stdout().lock();
    Ok(stdout.write_all(text).and_then(|()| stdout.flush())?)
}

/// Prints a line to stderr. If stderr is closed, the exit code still reports the failure.
fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{}", escape_control(line));
}
