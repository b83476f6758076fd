//! The arguments of the program.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

use crate::Class;

/// Show what changed between two OpenAPI documents, and whom it breaks
///
/// The documents are OpenAPI 3.0 in JSON or YAML. The exit code is 0 if no change breaks a client,
/// 1 if one does, and 2 if a document cannot be read or the result cannot be printed.
#[derive(Parser)]
#[command(name = "openapi-compat", version)]
pub struct Args {
    /// The document from which the client was generated; `-` is stdin
    pub pinned: PathBuf,
    /// The newer document; `-` is stdin
    pub published: PathBuf,
    /// The least severe class that makes the exit code 1. `source` breaks code that is compiled
    /// against a regenerated client, `wire` breaks a running client
    #[arg(long, value_name = "CLASS", default_value = "source")]
    pub fail_on: Class,
    /// A file of accepted changes, each with a reason and a date
    #[arg(long, value_name = "FILE")]
    pub accepted: Option<PathBuf>,
    /// The output format
    #[arg(long, default_value = "text")]
    pub format: Format,
}

/// The output format.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One line for each change, most severe first, and the reasons
    Text,
    /// Text, and up to ten annotations for the breaking changes
    Github,
    /// All details, for programs
    Json,
}
