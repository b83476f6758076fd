//! Runs third-party tools on the published document and the running service:
//!
//! - cargo-deny checks the dependencies, linters check the document and the Markdown, and promtool
//!   checks the alerts.
//! - oasdiff compares changes of the document, as does the compatibility check.
//! - Schemathesis fuzzes the service with requests that it generates from the document.
//! - Other generators generate clients from the document.
//! - Redocly renders the document as a page.
//! - The compatibility check runs in the repository of a consumer.
//!
//! The input of the tools is in `tests/conformance`. The tools are installed in
//! `target/conformance`, never globally, and run on a copy of the input. Python and npm are
//! required. Without promtool, its part is skipped; in CI it fails. After the installation, only
//! cargo-deny uses the network.

mod callers;
mod compat;
mod judges;
mod oasdiff;

use std::time::Instant;

use anyhow::{Result, ensure};
use clap::Args;

use crate::needs::has;
use crate::tools::{self, NEEDED, Needed};

/// The parts to run.
#[derive(Args)]
pub struct Parts {
    /// Skip everything if Python or npm is not installed
    #[arg(long)]
    if_possible: bool,
    /// Run only these parts
    #[arg(value_parser = PARTS.map(|part| part.name))]
    parts: Vec<String>,
}

/// A part that can be run on its own.
struct Part {
    /// The name on the command line.
    name: &'static str,
    run: fn() -> Result<()>,
}

/// The parts, in the order in which they run.
const PARTS: [Part; 9] = [
    Part { name: "deny", run: judges::deny },
    Part { name: "linters", run: judges::linters },
    Part { name: "markdown", run: judges::markdown },
    Part { name: "alerts", run: judges::alerts },
    Part { name: "oasdiff", run: oasdiff::run },
    Part { name: "clients", run: callers::clients },
    Part { name: "page", run: judges::page },
    Part { name: "compat", run: compat::run },
    Part { name: "fuzz", run: callers::fuzz },
];

/// Runs the parts with these names, or all parts if none is named.
pub fn run(Parts { if_possible, parts: names }: &Parts) -> Result<()> {
    if let Some(Needed { missing, .. }) = NEEDED.iter().find(|needed| !has(needed.program)) {
        ensure!(*if_possible, "{missing}");
        println!("conformance: skipped, because {missing}");
        return Ok(());
    }
    tools::install()?;
    let is_wanted =
        |part: &Part| names.is_empty() || names.iter().any(|wanted| wanted == part.name);
    for Part { name, run } in PARTS.into_iter().filter(is_wanted) {
        let started = Instant::now();
        run()?;
        println!("{name}: done in {} s", started.elapsed().as_secs());
    }
    Ok(())
}
