//! What a job on GitHub shows of the changes: its summary, and annotations of the document.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::path::Path;

use anyhow::Result;
use plant_store_compat::output::Comparison;
use plant_store_compat::{Class, Format, Report};
use serde_json::Value;

use super::DOCUMENT;

/// Appends the changes and the verdict to the summary, in Markdown. Annotates each breaking change at
/// its place in the document (its text, and the same as a value): as an error, unless the version is
/// large enough.
pub fn tell(
    report: Report,
    verdict: &Result<()>,
    text: &str,
    document: &Value,
    summary: &OsStr,
) -> Result<()> {
    let positions = report.positions(document, text);
    let changes =
        Comparison { names: Default::default(), report, fail_on: Class::Source, positions };
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
