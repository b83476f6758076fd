//! The output: text for people, JSON for programs, annotations for GitHub.
//!
//! The conclusion is in the first line, and again after the changes. Nothing here decides what a
//! change means.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result};
use clap::ValueEnum;
use serde_json::json;

use crate::change::printable;
use crate::{Class, Report};

/// The number of annotations that GitHub shows for a step.
const MOST_ANNOTATIONS: usize = 10;

/// What makes the check fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// A change of this class, or of a more severe one.
    FailOn(Class),
    /// A version of the newer document that is too small for the changes.
    Semver,
}

/// The output format.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One line for each change, most severe first, and the reasons
    Text,
    /// Text, and annotations for the first ten breaking changes
    Github,
    /// All details, for programs
    Json,
}

/// Prints a line for each change and each note, then the reason for each rule.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for change in &self.changes {
            match &change.accepted {
                None => writeln!(f, "{change}")?,
                Some(reason) => writeln!(f, "accepted: {change} # {}", printable(reason))?,
            }
        }
        for note in &self.notes {
            writeln!(f, "note: {}", printable(note))?;
        }
        let reasons = self.changes.iter().map(|one| format!("{}: {}", one.kind, one.reason));
        let reasons: BTreeSet<String> = reasons.collect();
        reasons.iter().try_for_each(|reason| writeln!(f, "  {reason}"))
    }
}

impl Report {
    /// Prints the report, and returns whether the check fails. `annotated` is the document that
    /// gets the annotations.
    pub fn print(&self, check: Check, format: Format, annotated: Option<&Path>) -> Result<bool> {
        let fails = match check {
            Check::FailOn(class) => self.class() >= Some(class),
            Check::Semver => self.has_too_small_version()?,
        };
        let conclusion = self.conclusion(check, fails)?;
        let text = match format {
            Format::Text => self.text(&conclusion, fails),
            Format::Json => self.json(&conclusion, fails),
            Format::Github => {
                let annotations = self.annotations(fails, &conclusion, annotated);
                self.text(&conclusion, fails) + &annotations
            }
        };
        let mut output = io::stdout().lock();
        let printed = writeln!(output, "{}", text.trim_end()).and_then(|()| output.flush());
        printed.context("cannot print the result")?;
        Ok(fails)
    }

    /// The conclusion in one line: the most severe class, and the version that it needs.
    fn conclusion(&self, check: Check, fails: bool) -> Result<String> {
        let meaning = match self.class() {
            None if !self.changes.is_empty() => "nothing changed except what is accepted",
            None if self.old.version != self.new.version => "nothing changed except the version",
            None => "nothing changed",
            Some(Class::Wire) => "the changes break running clients",
            Some(Class::Source) => {
                "the changes break no running client, but code that is compiled against a \
                 regenerated client"
            }
            Some(Class::Words | Class::Additive) => "no change breaks a client",
        };
        Ok(match check {
            Check::FailOn(_) if fails && self.class() < Some(Class::Source) => {
                format!("{meaning}, but `--fail-on` makes the check fail")
            }
            Check::FailOn(_) => meaning.to_owned(),
            Check::Semver if fails => {
                format!("{meaning}: info.version must be {} or larger", self.least_version()?)
            }
            Check::Semver => format!("{meaning}: info.version is large enough"),
        })
    }

    fn text(&self, conclusion: &str, fails: bool) -> String {
        let Self { old, new, .. } = self;
        let [pinned, published] = [old, new].map(|one| printable(&one.name));
        let [before, now] = [old, new].map(|one| printable(&one.version));
        let first = format!("{now} of {published}, since {before} of {pinned}: {conclusion}\n");
        if self.changes.is_empty() && self.notes.is_empty() {
            return first;
        }
        let advice = if fails {
            "to accept a change, add its line to a file, with a reason behind ` # `\n"
        } else {
            ""
        };
        format!("{first}{self}{conclusion}\n{advice}")
    }

    /// Returns all details as JSON.
    fn json(&self, conclusion: &str, fails: bool) -> String {
        let Self { old, new, changes, notes } = self;
        json!({
            "pinned": old,
            "published": new,
            "class": self.class(),
            "conclusion": conclusion,
            "status": u8::from(fails),
            "changes": changes,
            "notes": notes,
        })
        .to_string()
    }

    /// Returns annotations of a document for the first breaking changes: errors if the check fails,
    /// or else warnings. A check that fails without a breaking change gets one.
    fn annotations(&self, fails: bool, conclusion: &str, annotated: Option<&Path>) -> String {
        let file = annotated.map_or_else(String::new, |path| {
            // GitHub's toolkit escapes a value like this.
            let file = printable(&path.display().to_string());
            let file = file.replace('%', "%25").replace(':', "%3A").replace(',', "%2C");
            format!(" file={file}")
        });
        let breaking = self.changes.iter().filter(|one| one.class >= Class::Source);
        let breaking = breaking.filter(|one| one.accepted.is_none()).take(MOST_ANNOTATIONS);
        let shown: Vec<_> =
            breaking.map(|change| for_github(fails, &file, &change.to_string())).collect();
        if shown.is_empty() && fails {
            return for_github(true, &file, conclusion);
        }
        shown.join("\n")
    }
}

/// Returns the workflow command of GitHub that shows an error or a warning, for a message of one
/// line.
pub fn for_github(is_error: bool, place: &str, message: &str) -> String {
    let level = if is_error { "error" } else { "warning" };
    format!("::{level}{place}::{}", message.replace('%', "%25"))
}
