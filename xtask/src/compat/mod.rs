//! The compatibility check: is `info.version` large enough for what changed in the document?
//!
//! [`base`] finds the older document, and `openapi-compat` does everything else.
//! `accepted-changes.txt` beside the document lists the breaking changes that the maintainers have
//! accepted. The goose farm has no consumers, so its document is not checked.
//!
//! The check must never pass without a comparison, unless git reports that no commit has an older
//! document. If git cannot tell, the check fails.

pub mod base;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use clap::Args;
use openapi_compat::output::Check;
use openapi_compat::{Document, Format, compare};

use crate::checkout::{DOCUMENT, root};

/// The source file that contains the version of the document.
const SERVICE: &str = "server/src/lib.rs";

/// The arguments of the compatibility check.
#[derive(Args)]
pub struct Flags {
    /// Revision or file to compare with [default: the last release, which is a tag `v*`; before the
    /// first release, the merge base with origin/main]
    #[arg(long, value_name = "REV|FILE")]
    against: Option<String>,
    /// The output format
    #[arg(long, default_value = "text")]
    format: Format,
}

/// Compares the document with an older one, prints every change, and fails if the changes need a
/// larger version than the document has.
pub fn check(Flags { against, format }: &Flags) -> Result<()> {
    let text = fs::read_to_string(root().join(DOCUMENT));
    let new = Document::parse(DOCUMENT, &text.with_context(|| format!("cannot read {DOCUMENT}"))?)?;
    let old = match against {
        Some(against) => Some(base::named(&root(), against)?),
        None => base::base(&root(), &new)?,
    };
    let Some(old) = old else {
        println!("{DOCUMENT} {}: no commit has an older document", new.version);
        return Ok(());
    };
    let mut report = compare(old, new);
    // The file is optional.
    let accepted = Path::new(DOCUMENT).with_file_name("accepted-changes.txt");
    if root().join(&accepted).exists() {
        report.accept(&root().join(&accepted))?;
    }
    let fails = report.print(Check::Semver, *format, Some(Path::new(DOCUMENT)))?;
    ensure!(
        !fails,
        "set `info.version` in {SERVICE}, then run `cargo xtask generate`; or accept the changes in \
         {}",
        accepted.display()
    );
    Ok(())
}
