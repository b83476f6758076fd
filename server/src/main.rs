//! The binary `plant-store`: it reads the command line, calls, and says what went wrong in one
//! line on standard error. Exit status: 0 for success, 1 for a failure, 2 for a wrong command.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, error::ErrorKind};
use plant_store_server::cli::{Cli, Command};
use plant_store_server::{command, server};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if is_mistake(&error) => {
            say(&one_line(&error));
            return ExitCode::from(2);
        }
        Err(help_or_version) => help_or_version.exit(),
    };
    let result = match cli.command {
        Command::Serve(args) => server::run(&args),
        Command::Token(command) => command::token::run(command),
        Command::Export(args) => command::export::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("plant-store: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// To a standard error that may be closed; the status says it too.
fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// A command that is wrong, not one that asks for help or is not there at all.
fn is_mistake(error: &clap::Error) -> bool {
    error.use_stderr() && error.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
}

/// What clap says before it turns to the usage, without its line breaks.
fn one_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let said = ["\n\nUsage:", "\n\nFor more"]
        .iter()
        .fold(text.as_str(), |said, rest| said.split(rest).next().unwrap_or_default());
    let words: Vec<_> = said.split_whitespace().collect();
    format!("plant-store: {}", words.join(" ").trim_start_matches("error: "))
}
