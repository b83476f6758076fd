//! The command line: one file for each command, with its arguments and what it does.

mod check;
mod completions;
mod copy;
mod export;
mod openapi;
mod pages;
mod serve;
mod stdout;
mod store_args;
mod token;
mod value;

use anyhow::{Error, Result};
use clap::{CommandFactory, Parser, Subcommand};

/// Runs and looks after a plant store: POST /plants creates a plant, durably
#[derive(Debug, Parser)]
#[command(name = "plant-store", version, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Serve(Box<serve::Args>),
    #[command(subcommand)]
    Token(token::Command),
    Export(export::Args),
    Copy(copy::Args),
    Check(check::Args),
    Openapi(openapi::Args),
    Completions(completions::Args),
}

/// The exit status of a command that has failed.
pub fn exit_status(error: &Error) -> u8 {
    if error.is::<check::CannotCheck>() { 2 } else { 1 }
}

impl Cli {
    /// Runs the command.
    ///
    /// # Errors
    ///
    /// What went wrong, for the person who typed the command.
    pub fn run(self) -> Result<()> {
        match self.command {
            Command::Serve(args) => serve::run(&args),
            Command::Token(command) => token::run(command),
            Command::Export(args) => export::run(&args),
            Command::Copy(args) => copy::run(&args),
            Command::Check(args) => check::run(&args),
            Command::Openapi(args) => openapi::run(&args),
            Command::Completions(args) => completions::run(&args, &mut Self::command()),
        }
    }
}
