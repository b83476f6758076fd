//! The arguments of the program: the release makes its manual page and its completions from them.

use std::path::PathBuf;

use clap::Parser;

/// Say what changed in the OpenAPI document of the plant store, and whether it breaks a client
///
/// Documents are in JSON or YAML. The exit status is 0 if no change breaks a client, 1 if one does,
/// and 2 if the documents cannot be read or compared, or if the second one is the older one.
#[derive(Parser)]
#[command(name = "plant-store-compat", version)]
pub struct Args {
    /// The document from which the client was made; `-` is standard input
    pub pinned: PathBuf,
    /// The document to compare with [default: the one of this version of the command]
    pub published: Option<PathBuf>,
    /// A file of changes that are accepted although they break a client
    #[arg(long, value_name = "FILE")]
    pub accepted: Option<PathBuf>,
    /// Print JSON
    #[arg(long, conflicts_with = "github")]
    pub json: bool,
    /// Also print each breaking change as an annotation for GitHub, at its place in the pinned file
    #[arg(long)]
    pub github: bool,
}
