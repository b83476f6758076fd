//! Environment variables for flags. The name of a variable follows from the name of its flag.

use std::env;

use clap::Command;
use clap::builder::{OsStr, Resettable};

use crate::names::VARIABLES;

/// Returns the variable of a flag, given its long name: the variable of `--max-body` ends in
/// `MAX_BODY`.
pub fn for_flag(long: &str) -> String {
    let name = long.replace('-', "_").to_uppercase();
    format!("{VARIABLES}{name}")
}

/// Changes the command so that an empty variable counts as unset.
pub fn ignore_empty_variables(command: Command) -> Command {
    let command = command.mut_args(|flag| {
        let value = flag.get_env().and_then(env::var_os);
        let is_empty = value.is_some_and(|value| value.is_empty());
        if is_empty { flag.env(Resettable::<OsStr>::Reset) } else { flag }
    });
    command.mut_subcommands(ignore_empty_variables)
}
