//! The arguments of the program.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

use crate::Class;

/// Say what changed between two OpenAPI documents, and whom it breaks
///
/// Documents are OpenAPI 3.0 in JSON or YAML. The exit status is 0 if no change breaks a client, 1 if
/// one does, and 2 if a document cannot be read or the result cannot be printed.
#[derive(Parser)]
#[command(name = "openapi-compat", version)]
pub struct Args {
    /// The document from which the client was made; `-` is standard input
    pub pinned: PathBuf,
    /// The document to compare with; `-` is standard input
    pub published: PathBuf,
    /// The lightest change for which the exit status is 1. `source` breaks code that is compiled
    /// against a client generated again, `wire` breaks a client that runs
    #[arg(long, value_name = "CLASS", default_value = "source")]
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
    /// A line for each, severest first, and the reasons
    Text,
    /// Text, and an annotation for each of the first ten breaking changes
    Github,
    /// Everything, for programs
    Json,
}
