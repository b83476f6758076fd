//! Other people's tools on the published document and the running service: linters read the
//! document, oasdiff judges its changes beside the drift check, Schemathesis fuzzes the service
//! against it, foreign clients are made from it.
//!
//! What the tools are given lies in `tests/conformance`. They are installed, and run on a copy of
//! it, in `target/conformance`: nothing here writes anywhere else, and nothing speaks to another
//! machine once the tools are installed.

mod clients;
mod fuzz;
mod linters;
mod oasdiff;
mod service;
mod tools;

use std::time::Instant;

use anyhow::{Result, bail};

pub use tools::missing;

/// Runs all of it.
pub fn run() -> Result<()> {
    if let Some(missing) = missing() {
        bail!("{missing}");
    }
    part("tools", tools::install)?;
    part("linters", linters::run)?;
    part("oasdiff", oasdiff::run)?;
    part("clients", clients::run)?;
    part("fuzz", fuzz::run)
}

fn part(name: &str, run: fn() -> Result<()>) -> Result<()> {
    let started = Instant::now();
    run()?;
    println!("{name}: done in {} s", started.elapsed().as_secs());
    Ok(())
}
