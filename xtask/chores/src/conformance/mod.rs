//! Other people's tools on the published document and the running service: cargo-deny judges the
//! dependencies, linters read the document, oasdiff judges its changes beside the compatibility
//! check, Schemathesis fuzzes the service against it, foreign clients are made from it, a browser
//! opens its reference page, the examples of that page run, and so does the compatibility check, in
//! a consumer's repository.
//!
//! What the tools are given lies in `tests/conformance`. They are installed, and run on a copy of
//! it, in `target/conformance`, never globally; Chromium alone comes from Debian. Only cargo-deny
//! speaks to another machine once the tools are installed.

mod clients;
mod compat;
mod deny;
mod examples;
mod fuzz;
mod linters;
mod oasdiff;
mod page;
mod service;

use std::time::Instant;

use anyhow::{Result, bail};

use crate::tools::{self, missing};

type Part = (&'static str, fn() -> Result<()>);

/// In this order.
const PARTS: [Part; 8] = [
    ("deny", deny::run),
    ("linters", linters::run),
    ("oasdiff", oasdiff::run),
    ("clients", clients::run),
    ("page", page::run),
    ("examples", examples::run),
    ("compat", compat::run),
    ("fuzz", fuzz::run),
];

/// The names of the parts.
#[must_use]
pub fn parts() -> [&'static str; 8] {
    PARTS.map(|(name, _)| name)
}

/// Runs the parts with these names, or all of them if there is no name.
pub fn run(names: &[String]) -> Result<()> {
    if let Some(missing) = missing() {
        bail!("{missing}");
    }
    part("tools", tools::install)?;
    let wanted = |name| names.is_empty() || names.iter().any(|wanted| wanted == name);
    PARTS.into_iter().filter(|(name, _)| wanted(*name)).try_for_each(|(name, run)| part(name, run))
}

fn part(name: &str, run: fn() -> Result<()>) -> Result<()> {
    let started = Instant::now();
    run()?;
    println!("{name}: done in {} s", started.elapsed().as_secs());
    Ok(())
}
