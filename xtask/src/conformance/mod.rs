//! Other people's tools on the published document: linters read it.
//!
//! What the tools are given lies in `tests/conformance`. They are installed, and run on a copy of
//! it, in `target/conformance`: nothing here writes anywhere else, and nothing speaks to another
//! machine once the tools are installed.

mod linters;
mod tools;

use std::time::Instant;

use anyhow::Result;

/// Runs all of it.
pub fn run() -> Result<()> {
    part("tools", tools::install)?;
    part("linters", linters::run)
}

fn part(name: &str, run: fn() -> Result<()>) -> Result<()> {
    let started = Instant::now();
    run()?;
    println!("{name}: done in {} s", started.elapsed().as_secs());
    Ok(())
}
