//! The arguments of the program: the release makes its manual page and its completions from them.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

use crate::Class;

/// Say what changed in the OpenAPI document of the plant store, and whom it breaks
///
/// Documents are in JSON. The exit status is 0 if no change breaks a client, 1 if one does,
/// and 2 if the documents cannot be read or compared, or if the second one is the older one.
#[derive(Parser)]
#[command(name = "plant-store-compat", version)]
pub struct Args {
    /// The document from which the client was made; `-` is standard input
    pub pinned: PathBuf,
    /// The document to compare with [default: the one of this version of the command]
    pub published: Option<PathBuf>,
    /// The lightest change for which the exit status is 1. `source` breaks code that is compiled
    /// against a client generated anew, `wire` breaks a client that runs
    #[arg(long, visible_alias = "level", value_name = "CLASS", default_value = "source")]
    pub fail_on: Class,
    /// A file of changes that are accepted, each with a reason and a date
    #[arg(long, value_name = "FILE")]
    pub accepted: Option<PathBuf>,
    /// How the changes are printed
    #[arg(long, default_value = "text")]
    pub format: Format,
}

/// How the changes are printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A line for each
    Text,
    /// Text, and an annotation for each breaking change, at its place in the pinned file
    Github,
    /// Everything, for programs
    Json,
    /// A changelog for consumers
    Markdown,
}
