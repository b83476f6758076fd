//! The compatibility check of this repository: whether `info.version` says what a change of the
//! document means to its consumers. [`older()`] finds the document to compare with;
//! `plant-store-compat` compares the two. `openapi/accepted-changes.toml` names the changes that
//! were decided on.

pub mod mutations;
mod older;

use std::env;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};

pub use older::older;
use plant_store_compat::locate;
pub use plant_store_compat::{Class, Document, Report, compare};

pub use xtask::run::DOCUMENT;
use xtask::run::root;

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
    let mut report = compare(old, new);
    // There may be none.
    let accepted = root().join("openapi/accepted-changes.toml");
    if accepted.exists() {
        report.accept(&accepted)?;
    }
    let (was, is) = (&report.old, &report.new.version);
    println!("{DOCUMENT} {is}, since {} of {}:\n{report}{}", was.version, was.name, report.need());
    let verdict = report.verdict();
    // A job on GitHub gets the changes and the verdict in its summary.
    if let Some(summary) = env::var_os("GITHUB_STEP_SUMMARY") {
        locate(&mut report.changes, &report.new, &text);
        let mut summary = File::options().append(true).create(true).open(summary)?;
        writeln!(summary, "{}", report.markdown())?;
        if let Err(error) = &verdict {
            writeln!(summary, "\n**{error}**")?;
        }
        // Each breaking change, at its place in the document. It is an error, unless the version is large
        // enough.
        for line in report.annotations(Path::new(DOCUMENT), Class::Source) {
            let harmless = verdict.is_ok().then(|| line.replacen("::error", "::warning", 1));
            println!("{}", harmless.unwrap_or(line));
        }
    }
    verdict
}
