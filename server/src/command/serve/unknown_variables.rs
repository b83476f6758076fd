//! Finds environment variables that have the prefix of our flags but belong to no flag.

use std::collections::BTreeSet;
use std::env;

use clap::{Args as _, Command};

use crate::command::serve::args::Args;
use crate::names::VARIABLES;

/// Returns the sorted names of the unknown variables, except variables that Kubernetes sets.
pub fn unknown_variables() -> Vec<String> {
    // All flags of other commands that have a variable are also flags of `serve`.
    let serve = Args::augment_args(Command::new("serve"));
    let known: BTreeSet<_> = serve.get_arguments().filter_map(|flag| flag.get_env()).collect();
    let unknown = env::vars_os().map(|(name, _)| name).filter(|name| !known.contains(&**name));
    let mut names: Vec<_> = unknown.map(|name| name.to_string_lossy().into_owned()).collect();
    names.retain(|name| name.starts_with(VARIABLES) && !is_set_by_kubernetes(name));
    names.sort();
    names
}

/// Returns whether Kubernetes sets the variable in each container for a service with a name such
/// as `plant-store`
/// (<https://kubernetes.io/docs/tutorials/services/connect-applications-service/#environment-variables>).
fn is_set_by_kubernetes(name: &str) -> bool {
    let is_host = name.ends_with("_SERVICE_HOST");
    let is_port = name.ends_with("_PORT") || name.contains("_PORT_");
    is_host || is_port
}
