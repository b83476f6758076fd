//! Inserts the names of a service into the command line: into its texts, its default values, and
//! the environment variables of its flags.

use std::env;

use clap::builder::{OsStr, Resettable, StyledStr};
use clap::{Arg, Command};

use crate::service::Service;

/// Inserts the names into a command and its subcommands.
pub fn insert(service: &Service, mut command: Command) -> Command {
    let fill_in = |text: &StyledStr| service.fill_in(&text.to_string());
    if let Some(about) = command.get_about().map(fill_in) {
        command = command.about(about);
    }
    if let Some(about) = command.get_long_about().map(fill_in) {
        command = command.long_about(about);
    }
    let command = command.mut_args(|flag| insert_into_flag(service, flag));
    command.mut_subcommands(|command| insert(service, command))
}

fn insert_into_flag(service: &Service, mut flag: Arg) -> Arg {
    let fill_in = |text: &StyledStr| service.fill_in(&text.to_string());
    if let Some(help) = flag.get_help().map(fill_in) {
        flag = flag.help(help);
    }
    if let Some(help) = flag.get_long_help().map(fill_in) {
        flag = flag.long_help(help);
    }
    if let [default] = flag.get_default_values()
        && let Some(text) = default.to_str().filter(|text| text.contains('{'))
    {
        let default = service.fill_in(text);
        flag = flag.default_value(default);
    }
    if let Some(variable) = flag.get_env() {
        let variable = service.variables_prefix() + &variable.to_string_lossy();
        flag = flag.env(variable);
    }
    flag
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
