//! The compatibility check of this repository: whether `info.version` says what a change of the
//! document means to its consumers. [`older()`] finds the document to compare with;
//! `plant-store-compat` compares the two. `openapi/accepted-changes.toml` names the changes that
//! were decided on.

mod github;
pub mod mutations;
mod older;

use std::env;
use std::fs;

use anyhow::{Context, Result};

pub use older::older;
pub use plant_store_compat::{Accepted, Change, Class, Document, Place, Report, compare};

pub use xtask::run::DOCUMENT;
use xtask::run::root;

/// The accepted changes, relative to the root; there may be none.
const ACCEPTED: &str = "openapi/accepted-changes.toml";

/// Compares the document with an older one, prints every change, and fails if the changes need a
/// larger version than the document has.
pub fn run(against: Option<&str>) -> Result<()> {
    let text = fs::read_to_string(root().join(DOCUMENT))
        .with_context(|| format!("cannot read {DOCUMENT}"))?;
    let new = Document::parse("this checkout", &text)?;
    let Some(old) = older(root(), against, &new)? else {
        println!("{DOCUMENT} {}: no commit has an older document", new.version);
        return Ok(());
    };
    let mut report = compare(&old, &new);
    let accepted = root().join(ACCEPTED);
    if accepted.exists() {
        report.accept(&Accepted::read(&accepted)?);
    }
    let Report { old: before, new: now, .. } = &report;
    println!("{DOCUMENT} {now}, since {before} of {}:\n{report}{}", old.name, report.need());
    let verdict = report.verdict();
    if let Some(summary) = env::var_os("GITHUB_STEP_SUMMARY") {
        github::tell(report, &verdict, &text, &new.json, &summary)?;
    }
    verdict
}
