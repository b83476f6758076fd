//! Variables of the environment that look like a flag's, and are none.

use std::env;

use clap::{Arg, Command};

const PREFIX: &str = "PLANT_STORE_";

/// A sentence about each variable that begins with `PLANT_STORE_` and that no command reads.
pub fn unknown(command: &Command) -> Vec<String> {
    let arguments = command.get_subcommands().flat_map(Command::get_arguments);
    let known: Vec<_> =
        arguments.filter_map(Arg::get_env).filter_map(|name| name.to_str()).collect();
    let variables = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let unknown = variables.filter(|name| name.starts_with(PREFIX) && !known.contains(&&**name));
    let say = |name: String| {
        let distance = |known: &&&str| strsim::damerau_levenshtein(&name, known);
        let nearest = known.iter().min_by_key(distance).copied().unwrap_or_default();
        format!("{name} is no variable of plant-store and is ignored; the nearest one is {nearest}")
    };
    unknown.map(say).collect()
}
