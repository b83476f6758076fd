//! Variables of the environment that look like those of flags, and that no flag has.

use std::collections::BTreeSet;
use std::env;

use clap::{Args as _, Command};

use crate::command::serve::args::Args;
use crate::names::VARIABLES;

/// The names of those variables in order, those of Kubernetes left out.
pub fn unknown_variables() -> Vec<String> {
    // `serve` has every flag of the other commands that has a variable.
    let serve = Args::augment_args(Command::new("serve"));
    let known: BTreeSet<_> = serve.get_arguments().filter_map(|flag| flag.get_env()).collect();
    let unknown = env::vars_os().map(|(name, _)| name).filter(|name| !known.contains(&**name));
    let mut names: Vec<_> = unknown.map(|name| name.to_string_lossy().into_owned()).collect();
    names.retain(|name| name.starts_with(VARIABLES) && !is_of_kubernetes(name));
    names.sort();
    names
}

/// Whether Kubernetes sets it in each container, for a service with a name such as `plant-store`
/// (<https://kubernetes.io/docs/tutorials/services/connect-applications-service/#environment-variables>).
fn is_of_kubernetes(name: &str) -> bool {
    let is_host = name.ends_with("_SERVICE_HOST");
    let is_port = name.ends_with("_PORT") || name.contains("_PORT_");
    is_host || is_port
}
