//! The compatibility check of this repository: whether `info.version` says what a change of the
//! document means to its consumers. [`older()`] finds the document to compare with;
//! `plant-store-compat` compares the two. [`ACCEPTED`] names the changes that were decided on.

pub mod mutations;
mod older;

use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};

pub use older::older;
pub use plant_store_compat::{Accepted, Change, Class, Document, Place, Report, compare};

use plant_store_compat::output::Comparison;
use plant_store_compat::{Format, positions};
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
        let text =
            fs::read_to_string(accepted).with_context(|| format!("cannot read {ACCEPTED}"))?;
        report.accept(&Accepted::parse(ACCEPTED, &text)?);
    }
    println!(
        "{DOCUMENT} {}, since {} of {}:\n{report}{}",
        new.version,
        old.version,
        old.name,
        report.need()
    );
    let verdict = report.verdict();
    if let Some(summary) = env::var_os("GITHUB_STEP_SUMMARY") {
        let pointers: Vec<String> =
            report.changes.iter().map(|change| change.place.pointer(&new.json)).collect();
        let positions = positions(&text, &pointers);
        let names = [old.name, new.name];
        tell_github(
            &Comparison { names, report, fail_on: Class::Source, positions },
            &summary,
            &verdict,
        )?;
    }
    verdict
}

/// Makes the changes the summary of a job on GitHub, in Markdown, and annotations of the document:
/// errors, unless its version is large enough for them.
fn tell_github(changes: &Comparison, summary: &OsStr, verdict: &Result<()>) -> Result<()> {
    let mut summary = File::options().append(true).create(true).open(summary)?;
    writeln!(summary, "{}", changes.print(Format::Markdown, Path::new("")))?;
    if let Err(error) = verdict {
        writeln!(summary, "\n**{error}**")?;
    }
    for line in changes.annotations(Path::new(DOCUMENT)) {
        let harmless = verdict.is_ok().then(|| line.replacen("::error", "::warning", 1));
        println!("{}", harmless.unwrap_or(line));
    }
    Ok(())
}
