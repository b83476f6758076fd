//! The arguments of the program.

use std::path::{Path, PathBuf};

use clap::{Parser, ValueEnum};

use crate::Class;
use crate::output::{Check, Side};

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
    fail_on: Class,
    /// Exit with code 1 if the newer `info.version` is too small for the changes by Semantic
    /// Versioning, whatever their class
    #[arg(long, conflicts_with = "fail_on")]
    semver: bool,
    /// A file of accepted changes: lines of the output, each with a reason behind `#`
    #[arg(long, value_name = "FILE")]
    pub accepted: Option<PathBuf>,
    /// The output format
    #[arg(long, default_value = "text")]
    pub format: Format,
}

impl Args {
    /// What makes the check fail.
    pub fn check(&self) -> Check {
        if self.semver { Check::Semver } else { Check::FailOn(self.fail_on) }
    }

    /// The file that annotations are about; none if it is stdin.
    pub fn annotated(&self) -> Option<(&Path, Side)> {
        (self.pinned != Path::new("-")).then_some((&self.pinned, Side::Old))
    }
}

/// The output format.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One line for each change, most severe first, and the reasons
    Text,
    /// Text, up to ten annotations for the breaking changes, and the summary of the job
    Github,
    /// All details, for programs
    Json,
}
