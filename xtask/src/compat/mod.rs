//! The compatibility check of this repository: whether `info.version` says what a change of the
//! document means to its consumers. `openapi-compat` compares two documents; [`base`] finds the
//! older one, and [`version`] says which version the changes need.
//! `openapi/accepted-changes.toml` names the changes that were decided on.
//!
//! A check that had nothing to compare with must not look like one that passed: if git cannot tell,
//! the check fails.

pub mod base;
pub mod mutations;
pub mod pairs;
pub mod version;

use std::env;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use clap::Args;

use crate::checkout::{DOCUMENT, root};
use openapi_compat::output::{Level, Side};

pub use openapi_compat::{Class, Document, Report, compare};

/// What the document is compared with.
#[derive(Args, Clone, Default)]
pub struct Base {
    /// A revision or a file [default: the last release, a tag `v*`; before the first release the
    /// merge base with origin/main]
    #[arg(long, value_name = "REV|FILE")]
    pub against: Option<String>,
    /// Judge no document of this repository, but each folder of this one that has an `old.json` and
    /// a `new.json`, and print how many break; also by oasdiff, if this names its program
    #[arg(long, value_name = "FOLDER", conflicts_with = "against")]
    pub pairs: Option<std::path::PathBuf>,
    /// The program of oasdiff
    #[arg(long, value_name = "FILE", requires = "pairs")]
    pub oasdiff: Option<std::path::PathBuf>,
}

/// Compares the document with an older one, prints every change, and fails if the changes need a
/// larger version than the document has.
pub fn run(base: &Base) -> Result<()> {
    if let Some(folder) = &base.pairs {
        return pairs::run(folder, base.oasdiff.as_deref());
    }
    let text = fs::read_to_string(root().join(DOCUMENT))
        .with_context(|| format!("cannot read {DOCUMENT}"))?;
    let new = Document::parse("this checkout", &text)?;
    let old = match &base.against {
        Some(against) => Some(base::named(root(), against)?),
        None => base::base(root(), &new)?,
    };
    let Some(old) = old else {
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
    let need = version::need(&report)?;
    println!("{DOCUMENT} {present}, since {version} of {name}: {need}");
    if !report.changes.is_empty() {
        println!("{report}{need}");
    }
    let verdict = version::verdict(&report);
    if let (Err(_), Some(offer)) = (&verdict, report.offer(Class::Source)) {
        println!("{offer}");
    }
    if let Some(path) = env::var_os("GITHUB_STEP_SUMMARY") {
        summarise_on_github(&report, &verdict, Path::new(&path))?;
    }
    verdict
}

/// Writes the changes and the verdict into the summary of a job on GitHub, and annotates the
/// breaking changes. They are errors, unless the version is large enough.
fn summarise_on_github(report: &Report, verdict: &Result<()>, path: &Path) -> Result<()> {
    let mut summary = File::options().append(true).create(true).open(path)?;
    writeln!(summary, "```text\n{report}```")?;
    if let Err(error) = verdict {
        writeln!(summary, "\n**{error}**")?;
    }
    let level = if verdict.is_ok() { Level::Warning } else { Level::Error };
    for line in report.annotations(Path::new(DOCUMENT), Side::New, Class::Source, level) {
        println!("{line}");
    }
    Ok(())
}
