//! The compatibility check: is `info.version` large enough for what changed in the document?
//!
//! [`base`] finds the older document, and `openapi-compat` does everything else.
//! `openapi/accepted-changes.txt` lists the breaking changes that the maintainers have accepted.
//!
//! The check must never pass without a comparison, unless git reports that no commit has an older
//! document. If git cannot tell, the check fails.

pub mod base;

use std::env;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use clap::Args;
use openapi_compat::output::{Check, Side};
use openapi_compat::{Document, Format, compare};

use crate::checkout::{DOCUMENT, root};

/// The arguments of the compatibility check.
#[derive(Args, Clone, Default)]
pub struct Base {
    /// Revision or file to compare with [default: the last release, which is a tag `v*`; before the
    /// first release, the merge base with origin/main]
    #[arg(long, value_name = "REV|FILE")]
    pub against: Option<String>,
}

/// Compares the document with an older one, prints every change, and fails if the changes need a
/// larger version than the document has. In a job of GitHub, also writes its summary and annotates
/// the document.
pub fn run(base: &Base) -> Result<()> {
    let text = fs::read_to_string(root().join(DOCUMENT))
        .with_context(|| format!("cannot read {DOCUMENT}"))?;
    let new = Document::parse(DOCUMENT, text)?;
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
    let accepted = root().join("openapi/accepted-changes.txt");
    if accepted.exists() {
        report.accept(&accepted)?;
    }
    let is_on_github = env::var_os("GITHUB_STEP_SUMMARY").is_some();
    let format = if is_on_github { Format::Github } else { Format::Text };
    let fails = report.print(Check::Semver, format, Some((Path::new(DOCUMENT), Side::New)))?;
    ensure!(
        !fails,
        "set `info.version` in server/src/lib.rs, then run `cargo xtask generate`; or accept the \
         changes in openapi/accepted-changes.txt"
    );
    Ok(())
}
