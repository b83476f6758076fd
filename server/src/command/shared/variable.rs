//! The variables of the environment: each flag that can be set there has one, named like the flag.

use std::env;

use clap::Command;
use clap::builder::{OsStr, Resettable};

use crate::names::VARIABLES;

/// The variable of the flag with that long name: the variable of `--max-body` ends in `MAX_BODY`.
pub fn of_flag(long: &str) -> String {
    let name = long.replace('-', "_").to_uppercase();
    format!("{VARIABLES}{name}")
}

/// The command line, on which a variable that is empty counts as none.
pub fn without_empty_variables(command: Command) -> Command {
    let command = command.mut_args(|flag| {
        let value = flag.get_env().and_then(env::var_os);
        let is_empty = value.is_some_and(|value| value.is_empty());
        if is_empty { flag.env(Resettable::<OsStr>::Reset) } else { flag }
    });
    command.mut_subcommands(without_empty_variables)
}
