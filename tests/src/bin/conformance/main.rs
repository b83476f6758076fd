//! Other people's tools on the published document and the running service: cargo-deny judges the
//! dependencies, linters read the document and the Markdown, promtool reads the alerts, oasdiff
//! judges the document's changes beside the compatibility check, Schemathesis fuzzes the service by
//! it, other generators make clients from it, a browser opens its reference page, the examples of
//! that page run, and the compatibility check runs in a consumer's repository.
//!
//! The input of the tools is in `tests/conformance`. They are installed in `target/conformance`,
//! never globally, and run on a copy of the input there. Python and npm must be on the machine.
//! Without Chromium, promtool or Java, the parts that need one are skipped; in CI they fail. After
//! the installation only cargo-deny uses the network.

mod callers;
mod compat;
mod judges;
mod oasdiff;
mod other_answers;

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, ensure};
use clap::Parser;
use plant_store_chores::tools::{self, NEEDED, Needed};
use xtask::checkout::find_root;
use xtask::needs::has;

/// Check document and service with other people's tools: linters, oasdiff, Schemathesis, clients, a
/// browser
#[derive(Parser)]
#[command(name = "conformance", bin_name = "cargo xtask conformance")]
struct Cli {
    /// Skip all of it if the machine lacks Python or npm
    #[arg(long)]
    if_possible: bool,
    /// Only these parts
    #[arg(value_parser = PARTS.map(|part| part.name))]
    parts: Vec<String>,
}

/// A part that can run alone.
struct Part {
    /// Its name on the command line.
    name: &'static str,
    run: fn() -> Result<()>,
}

/// The parts, in the order in which they run.
const PARTS: [Part; 10] = [
    Part { name: "deny", run: judges::deny },
    Part { name: "linters", run: judges::linters },
    Part { name: "markdown", run: judges::markdown },
    Part { name: "alerts", run: judges::alerts },
    Part { name: "oasdiff", run: oasdiff::run },
    Part { name: "clients", run: callers::clients },
    Part { name: "page", run: judges::page },
    Part { name: "examples", run: callers::examples },
    Part { name: "compat", run: compat::run },
    Part { name: "fuzz", run: callers::fuzz },
];

fn main() -> ExitCode {
    let Cli { if_possible, parts } = Cli::parse();
    let Err(error) = find_root().and_then(|_| run(&parts, if_possible)) else {
        return ExitCode::SUCCESS;
    };
    eprintln!("xtask: {error:#}");
    ExitCode::FAILURE
}

/// Runs the parts with these names, or all of them if there is no name.
fn run(names: &[String], if_possible: bool) -> Result<()> {
    if let Some(Needed { missing, .. }) = NEEDED.iter().find(|needed| !has(needed.program)) {
        ensure!(if_possible, "{missing}");
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
