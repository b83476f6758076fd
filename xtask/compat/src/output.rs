//! The output: text for people, JSON for programs, annotations for GitHub.
//!
//! The conclusion comes first, and again after the changes. Nothing here decides what a change
//! means.

use std::env;
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;
use strum::Display;

use crate::change::Change;
use crate::place::words;
use crate::text::{cut, printable};
use crate::{Class, Document, Format, Report};

/// The number of annotations that GitHub shows for a step.
const MOST_ANNOTATIONS: usize = 10;

/// The approximate width of a line, in columns.
const WIDTH: usize = 120;

/// The longest summary in characters. GitHub refuses summaries that are larger than 1 MiB.
const LONGEST_SUMMARY: usize = 250_000;

/// What makes the check fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// A change of this class, or of a more severe one.
    FailOn(Class),
    /// A version of the newer document that is too small for the changes.
    Semver,
}

/// What the changes mean, in one line, and whether the check fails.
struct Verdict {
    conclusion: String,
    fails: bool,
}

/// Prints a line for each change and each note, then the reason for each rule.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let changes = self.grouped();
        for change in &changes {
            let line = self.line(change);
            match &change.accepted {
                None => writeln!(f, "{line}")?,
                Some(reason) => writeln!(f, "accepted: {line} # {}", printable(reason))?,
            }
        }
        for note in &self.notes {
            writeln!(f, "note: {}", printable(note))?;
        }
        let mut reasons: Vec<String> =
            changes.iter().map(|change| format!("{}: {}", change.kind, change.reason)).collect();
        reasons.sort();
        reasons.dedup();
        reasons.iter().try_for_each(|reason| writeln!(f, "  {reason}"))
    }
}

impl Report {
    /// Prints the report. Returns whether the check fails. `annotated` is the file that contains
    /// one of the documents.
    pub fn print(
        &self,
        check: Check,
        format: Format,
        annotated: Option<(&Path, Side)>,
    ) -> Result<bool> {
        let verdict = self.verdict(check)?;
        let mut text = self.text(&verdict);
        match format {
            Format::Text => {}
            Format::Json => text = self.json(&verdict),
            Format::Github => {
                if let Some(path) = env::var_os("GITHUB_STEP_SUMMARY") {
                    write_summary(Path::new(&path), &text).context("cannot write the summary")?;
                }
                text += &self.annotations(&verdict, check, annotated);
            }
        }
        let mut output = io::stdout().lock();
        let printed = writeln!(output, "{}", text.trim_end()).and_then(|()| output.flush());
        printed.context("cannot print the result")?;
        Ok(verdict.fails)
    }

    /// One change as a line: its class, the first operation that it reaches, the first place, what
    /// changed, and the rule. Everything that comes from the documents is [`printable`].
    pub(crate) fn line(&self, change: &Change) -> String {
        let Change { class, kind, place, change: what, operations, places, .. } = change;
        let (verdict, rule) = (class.to_string(), kind.to_string());
        let document = if change.new.is_none() { &self.old } else { &self.new };
        let more = |count: usize| match count {
            0 | 1 => String::new(),
            _ => format!(" +{}", count - 1),
        };
        let left = WIDTH.saturating_sub(13 + what.chars().count() + rule.chars().count() + 10);
        let longest = (left / 2).max(24);
        let first = operations.first().map_or("no operation", String::as_str);
        let operation = cut(&printable(first), longest) + &more(operations.len());
        let left = left.saturating_sub(operation.len()).max(longest);
        let place = cut(&printable(&words(place, document)), left) + &more(places.len());
        let place = if place.is_empty() { place } else { format!("  {place}") };
        format!("{verdict:13}  {operation}{place}  {what}  ({})", printable(&rule))
    }

    fn verdict(&self, check: Check) -> Result<Verdict> {
        let fails = match check {
            Check::FailOn(class) => self.class() >= Some(class),
            Check::Semver => self.has_too_small_version()?,
        };
        let has_new_version = self.old.version != self.new.version;
        let meaning = match self.class() {
            None if !self.changes.is_empty() => "nothing changed except what is accepted",
            None if has_new_version => "nothing changed except the version",
            None => "nothing changed",
            Some(Class::Wire) => "the changes break running clients",
            Some(Class::Source) => {
                "the changes break no running client, but code that is compiled against a \
                 regenerated client"
            }
            Some(Class::Words | Class::Additive) => "no change breaks a client",
        };
        let more = match check {
            Check::FailOn(class) if fails && self.class() < Some(Class::Source) => {
                format!(", but `--fail-on {}` makes them fail", class.argument())
            }
            Check::FailOn(_) => String::new(),
            Check::Semver if fails => {
                format!(": info.version must be {} or larger", self.least_version()?)
            }
            Check::Semver => ": info.version is large enough".to_owned(),
        };
        Ok(Verdict { conclusion: format!("{meaning}{more}"), fails })
    }

    fn text(&self, verdict: &Verdict) -> String {
        let Self { old, new, .. } = self;
        let [pinned, published] = [old, new].map(|one| printable(&one.name));
        let [before, now] = [old, new].map(|one| printable(&one.version));
        let Verdict { conclusion, fails } = verdict;
        let first = format!("{now} of {published}, since {before} of {pinned}: {conclusion}\n");
        if self.changes.is_empty() && self.notes.is_empty() {
            return first;
        }
        let advice = match fails {
            true => "to accept a change, add its line to a file, with a reason behind ` # `\n",
            false => "",
        };
        format!("{first}{self}{conclusion}\n{advice}")
    }

    /// Returns all details as JSON.
    fn json(&self, verdict: &Verdict) -> String {
        let report = Json {
            pinned: &self.old,
            published: &self.new,
            class: self.class(),
            conclusion: &verdict.conclusion,
            status: u8::from(verdict.fails),
            changes: &self.grouped(),
            notes: &self.notes,
        };
        serde_json::to_string(&report).expect("every field is valid JSON")
    }

    /// Returns annotations for the breaking changes, at their lines in a file. Changes that do not
    /// make the check fail are warnings. The last annotation says how many changes have none. If
    /// the check fails without a breaking change, an annotation says so.
    fn annotations(
        &self,
        verdict: &Verdict,
        check: Check,
        annotated: Option<(&Path, Side)>,
    ) -> String {
        let place = annotated.map_or_else(String::new, |(path, _)| {
            // GitHub's toolkit escapes a value like this.
            let file = printable(&path.display().to_string());
            let file = file.replace('%', "%25").replace(':', "%3A").replace(',', "%2C");
            format!(" file={file}")
        });
        let level = |change: &Change| {
            let is_error = match check {
                Check::FailOn(class) => change.class >= class,
                Check::Semver => verdict.fails,
            };
            if is_error { Level::Error } else { Level::Warning }
        };
        let line_number = |change: &Change| match annotated {
            None => None,
            Some((_, Side::Old)) => self.old.line(&change.in_both.old),
            Some((_, Side::New)) => self.new.line(&change.in_both.new),
        };
        let mut breaking = self.grouped();
        breaking.retain(|change| change.class >= Class::Source && change.accepted.is_none());
        let is_cut = breaking.len() > MOST_ANNOTATIONS;
        let shown = if is_cut { MOST_ANNOTATIONS - 1 } else { breaking.len() };
        let (shown, hidden) = breaking.split_at(shown);
        let annotation = |change: &Change| {
            let at = line_number(change).map(|number| format!(",line={number}"));
            let place = format!("{place}{}", at.unwrap_or_default());
            for_github(level(change), &place, &self.line(change))
        };
        let mut lines: Vec<String> = shown.iter().map(annotation).collect();
        if lines.is_empty() && verdict.fails {
            lines.push(for_github(Level::Error, &place, &verdict.conclusion));
        }
        if is_cut {
            let message =
                format!("{} more changes break a client: the log lists them all", hidden.len());
            let level = if verdict.fails { Level::Error } else { Level::Warning };
            lines.push(for_github(level, &place, &message));
        }
        lines.join("\n")
    }
}

/// Appends the report to the summary of a job of GitHub.
fn write_summary(path: &Path, text: &str) -> io::Result<()> {
    let mut summary = File::options().append(true).create(true).open(path)?;
    let shown: String = text.chars().take(LONGEST_SUMMARY).collect();
    writeln!(summary, "```text\n{}\n```", shown.trim_end())?;
    if shown.len() < text.len() {
        let note = "The report was truncated: see the log of the step for the rest.";
        writeln!(summary, "{note}")?;
    }
    Ok(())
}

/// One of the two documents.
#[derive(Clone, Copy)]
pub enum Side {
    /// The older one.
    Old,
    /// The newer one.
    New,
}

/// The output for programs.
#[derive(Serialize)]
struct Json<'a> {
    pinned: &'a Document,
    published: &'a Document,
    class: Option<Class>,
    conclusion: &'a str,
    status: u8,
    changes: &'a [Change],
    notes: &'a [String],
}

/// The level of an annotation.
#[derive(Clone, Copy, Display)]
#[strum(serialize_all = "lowercase")]
pub enum Level {
    /// A reason why the check fails.
    Error,
    /// A hint.
    Warning,
}

/// Returns the command of GitHub's runner that shows an annotation. The message is one line.
pub fn for_github(level: Level, place: &str, message: &str) -> String {
    format!("::{level}{place}::{}", message.replace('%', "%25"))
}
