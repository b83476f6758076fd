//! The compatibility check: is `info.version` large enough for what changed in the document?
//!
//! [`base`] finds the older document, `openapi-compat` compares the two, and [`version`] determines
//! which version the changes need. `openapi/accepted-changes.toml` lists the breaking changes that
//! the maintainers have accepted.
//!
//! The check must never pass without a comparison, unless git reports that no commit has an older
//! document. If git cannot tell, the check fails.

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

/// The arguments of the compatibility check.
#[derive(Args, Clone, Default)]
pub struct Base {
    /// Revision or file to compare with [default: the last release, which is a tag `v*`; before the
    /// first release, the merge base with origin/main]
    #[arg(long, value_name = "REV|FILE")]
    pub against: Option<String>,
    /// Folder of pairs: instead of the document of this repository, compare the `old.json` with the
    /// `new.json` in each of its folders, and print how many pairs break
    #[arg(long, value_name = "FOLDER", conflicts_with = "against")]
    pub pairs: Option<std::path::PathBuf>,
    /// Program of oasdiff, which judges the same pairs
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
    // The file is optional.
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
        write_github_summary(&report, &verdict, Path::new(&path))?;
    }
    verdict
}

/// Appends the changes and the verdict to the summary of the GitHub job, and annotates the breaking
/// changes: as warnings if the version is large enough, or else as errors.
fn write_github_summary(report: &Report, verdict: &Result<()>, path: &Path) -> Result<()> {
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
