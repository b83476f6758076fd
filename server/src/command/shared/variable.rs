//! The variables of the environment: each flag that can be set there has one, named like the flag.

use std::env;

use clap::Command;
use clap::builder::{OsStr, Resettable};

/// What the variables of all flags begin with.
pub const PREFIX: &str = "PLANT_STORE_";

/// The variable of the flag with that long name: that of --max-body is `PLANT_STORE_MAX_BODY`.
pub fn of_flag(long: &str) -> String {
    let name = long.replace('-', "_").to_uppercase();
    format!("{PREFIX}{name}")
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
