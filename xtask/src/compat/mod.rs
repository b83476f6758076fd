//! The compatibility check: is `info.version` large enough for what changed in the document?
//!
//! [`base`] finds the older document, and `openapi-compat` does everything else.
//! `accepted-changes.txt` beside the document lists the breaking changes that the maintainers have
//! accepted. The goose farm has no consumers, so its document is not checked.
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

use crate::checkout::root;

/// The arguments of the compatibility check.
#[derive(Args, Clone, Default)]
pub struct Base {
    /// Revision or file to compare with [default: the last release, which is a tag `v*`; before the
    /// first release, the merge base with origin/main]
    #[arg(long, value_name = "REV|FILE")]
    pub against: Option<String>,
}

/// Compares the document at `path` with an older one, prints every change, and fails if the changes
/// need a larger version than the document has. `service` is the source file with the version. In a
/// job of GitHub, also writes its summary and annotates the document.
pub fn check(service: &str, path: &str, base: &Base) -> Result<()> {
    let text = fs::read_to_string(root().join(path));
    let new = Document::parse(path, text.with_context(|| format!("cannot read {path}"))?)?;
    let old = match &base.against {
        Some(against) => Some(base::named(root(), path, against)?),
        None => base::base(root(), path, &new)?,
    };
    let Some(old) = old else {
        println!("{path} {}: no commit has an older document", new.version);
        return Ok(());
    };
    let mut report = compare(old, new);
    // The file is optional.
    let accepted = Path::new(path).with_file_name("accepted-changes.txt");
    if root().join(&accepted).exists() {
        report.accept(&root().join(&accepted))?;
    }
    let is_on_github = env::var_os("GITHUB_STEP_SUMMARY").is_some();
    let format = if is_on_github { Format::Github } else { Format::Text };
    let fails = report.print(Check::Semver, format, Some((Path::new(path), Side::New)))?;
    ensure!(
        !fails,
        "set `info.version` in {service}, then run `cargo xtask generate`; or accept the changes in \
         {}",
        accepted.display()
    );
    Ok(())
}
