//! The compatibility check of this repository: whether `info.version` says what a change of the
//! document means to its consumers. `plant-store-compat` compares two documents; [`older()`] finds
//! the older one: `release` looks first, `history` before there is a release. [`version`] says
//! which version the changes need. `openapi/accepted-changes.toml` names the changes that were
//! decided on.
//!
//! A check that had nothing to compare with must not look like one that passed: if git cannot tell,
//! the check fails.

mod git;
mod history;
pub mod mutations;
mod release;
pub mod version;

use std::env;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use clap::Args;

use plant_store_compat::locate;
use plant_store_compat::output::Level;
pub use plant_store_compat::{Class, Document, Report, compare};
use xtask::checkout::{DOCUMENT, root};

/// What the document is compared with.
#[derive(Args, Clone, Default)]
pub struct Base {
    /// A revision or a file [default: the last release, a tag `v*`; before the first release the
    /// last document, up to the merge base with origin/main, that says something else]
    #[arg(long, value_name = "REV|FILE")]
    pub against: Option<String>,
    /// Compare with `--against` only before the first release, and otherwise with the last release
    #[arg(long, requires = "against")]
    pub unless_released: bool,
}

/// The document that the present one is compared with; none if git says that no commit has one.
pub fn older(root: &Path, base: &Base, present: &Document) -> Result<Option<Document>> {
    if base.against.is_none() || base.unless_released {
        let released = release::released(root, present)?;
        if released.is_some() {
            return Ok(released);
        }
    }
    match &base.against {
        Some(against) => history::named(root, against).map(Some),
        None => history::last_other(root, present),
    }
}

/// Compares the document with an older one, prints every change, and fails if the changes need a
/// larger version than the document has.
pub fn run(base: &Base) -> Result<()> {
    let text = fs::read_to_string(root().join(DOCUMENT))
        .with_context(|| format!("cannot read {DOCUMENT}"))?;
    let new = Document::parse("this checkout", &text)?;
    let Some(old) = older(root(), base, &new)? else {
        println!("{DOCUMENT} {}: no commit has an older document", new.version);
        return Ok(());
    };
    let mut report = compare(old, new);
    // There may be none.
    let accepted = root().join("openapi/accepted-changes.toml");
    if accepted.exists() {
        report.accept(&accepted)?;
    }
    let Document { name, version, .. } = &report.old;
    let present = &report.new.version;
    let need = version::need(&report);
    println!("{DOCUMENT} {present}, since {version} of {name}:\n{report}{need}");
    let verdict = version::verdict(&report);
    if let Some(path) = env::var_os("GITHUB_STEP_SUMMARY") {
        locate(&mut report.changes, &report.new, &text);
        summarise_on_github(&report, &verdict, Path::new(&path))?;
    }
    verdict
}

/// Writes the changes and the verdict into the summary of a job on GitHub, and annotates each
/// breaking change at its place in the document. It is an error, unless the version is large
/// enough.
fn summarise_on_github(report: &Report, verdict: &Result<()>, path: &Path) -> Result<()> {
    let mut summary = File::options().append(true).create(true).open(path)?;
    writeln!(summary, "{}", report.markdown(Class::Source))?;
    if let Err(error) = verdict {
        writeln!(summary, "\n**{error}**")?;
    }
    let level = if verdict.is_ok() { Level::Warning } else { Level::Error };
    for line in report.annotations(Path::new(DOCUMENT), Class::Source, level) {
        println!("{line}");
    }
    Ok(())
}
