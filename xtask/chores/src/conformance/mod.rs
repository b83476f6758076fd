//! Other people's tools on the published document and the running service: cargo-deny judges the
//! dependencies, linters read the document, promtool tries the alerts, oasdiff judges its changes
//! beside the compatibility check, Schemathesis fuzzes the service by it, other generators make
//! clients from it, a browser opens its reference page, the examples of that page run, and the
//! compatibility check runs in a consumer's repository.
//!
//! The input of the tools is in `tests/conformance`. They are installed in `target/conformance`,
//! never globally, and run on a copy of the input there. Python and npm must be on the machine.
//! Without Chromium, promtool or Java, the parts that need one are skipped; in CI they fail. After
//! the installation only cargo-deny uses the network.

mod callers;
mod compat;
mod judges;
mod oasdiff;
mod unknown_errors;

use std::time::Instant;

use anyhow::{Result, ensure};

use crate::tools::{self, NEEDED, Needed};
use xtask::needs::has;

/// A part that can run alone.
pub struct Part {
    /// Its name on the command line.
    pub name: &'static str,
    run: fn() -> Result<()>,
}

/// The parts, in the order in which they run.
pub const PARTS: [Part; 9] = [
    Part { name: "deny", run: judges::deny },
    Part { name: "linters", run: judges::linters },
    Part { name: "alerts", run: judges::alerts },
    Part { name: "oasdiff", run: oasdiff::run },
    Part { name: "clients", run: callers::clients },
    Part { name: "page", run: judges::page },
    Part { name: "examples", run: callers::examples },
    Part { name: "compat", run: compat::run },
    Part { name: "fuzz", run: callers::fuzz },
];

/// Runs the parts with these names, or all of them if there is no name.
pub fn run(names: &[String], if_possible: bool) -> Result<()> {
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
