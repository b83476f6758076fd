//! The output: text for people, JSON for programs, annotations for GitHub.
//!
//! The conclusion comes first, and again after the changes. Nothing here decides what a change
//! means.

use std::fmt;
use std::path::Path;
use std::time::SystemTime;

use serde::Serialize;
use strum::Display;

use crate::change::{cut, printable};
use crate::place::words;
use crate::{Args, Change, Class, Document, Format, Report};

/// The number of annotations that GitHub shows for a step.
const MOST_ANNOTATIONS: usize = 10;

/// The approximate width of a line, in columns.
const WIDTH: usize = 120;

/// Prints a line for each change and each note, then the reason for each rule.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let changes = self.grouped();
        for change in &changes {
            writeln!(f, "{}", self.line(change))?;
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
    /// One change as a line: its class, the first operation that it reaches, the first place, what
    /// changed, and the rule. Everything that comes from the documents is [`printable`].
    fn line(&self, change: &Change) -> String {
        let Change { class, kind, place, change: what, operations, places, accepted, .. } = change;
        let (verdict, rule) = match accepted {
            None => (class.to_string(), kind.to_string()),
            Some(why) => ("accepted".to_owned(), format!("{class}; {why}")),
        };
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
        let place = cut(&printable(&words(place, &document.json)), left) + &more(places.len());
        let place = if place.is_empty() { place } else { format!("  {place}") };
        format!("{verdict:13}  {operation}{place}  {what}  ({})", printable(&rule))
    }

    /// Returns the output of the program, in the format that the arguments name.
    #[must_use]
    pub fn render(&self, args: &Args) -> String {
        match args.format {
            Format::Text => self.text(args.fail_on),
            Format::Github => {
                let lines = self.annotations(&args.pinned, Side::Old, args.fail_on, Level::Error);
                [vec![self.text(args.fail_on)], lines].concat().join("\n")
            }
            Format::Json => self.json(args.fail_on),
        }
    }

    /// The exit code, if `fail_on` is the least severe class that fails.
    #[must_use]
    pub fn status(&self, fail_on: Class) -> u8 {
        u8::from(self.class() >= Some(fail_on))
    }

    /// Says in one line what the changes mean.
    fn conclusion(&self, fail_on: Class) -> String {
        let meaning = match self.class() {
            None if self.changes.is_empty() => "nothing changed",
            None => "nothing changed except what is accepted",
            Some(Class::Wire) => "the changes break running clients",
            Some(Class::Source) => {
                "the changes break no running client, but code that is compiled against a \
                 regenerated client"
            }
            Some(Class::Words | Class::Additive) => "no change breaks a client",
        };
        let fails_anyway = self.status(fail_on) == 1 && self.class() < Some(Class::Source);
        if fails_anyway {
            format!("{meaning}, but `--fail-on {}` makes them fail", fail_on.argument())
        } else {
            meaning.to_owned()
        }
    }

    fn text(&self, fail_on: Class) -> String {
        let Self { old, new, .. } = self;
        let [pinned, published] = [old, new].map(|one| printable(&one.name));
        let [before, now] = [old, new].map(|one| printable(&one.version));
        let conclusion = self.conclusion(fail_on);
        let first = format!("{now} of {published}, since {before} of {pinned}: {conclusion}\n");
        if self.changes.is_empty() && self.notes.is_empty() {
            return first.trim_end().to_owned();
        }
        let offer = self.offer(fail_on).map(|offer| format!("\n{offer}")).unwrap_or_default();
        format!("{first}{self}{conclusion}{offer}")
    }

    /// Returns an entry for the file of accepted changes, for the first change that fails.
    #[must_use]
    pub fn offer(&self, fail_on: Class) -> Option<String> {
        let mut open = self.changes.iter().filter(|one| one.accepted.is_none());
        let Change { place, change, .. } = open.find(|one| one.class >= fail_on)?;
        let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        let date = now.split('T').next().unwrap_or_default();
        Some(format!(
            "to accept the first one, add this with a reason to accepted-changes.toml:\n\
             [[change]]\nplace = {}\nchange = {}\nreason = \"\"\ndate = {date}",
            quoted(place),
            quoted(change)
        ))
    }

    /// Returns all details as JSON.
    fn json(&self, fail_on: Class) -> String {
        let report = Json {
            pinned: &self.old,
            published: &self.new,
            class: self.class(),
            conclusion: self.conclusion(fail_on),
            status: self.status(fail_on),
            changes: &self.grouped(),
            notes: &self.notes,
        };
        serde_json::to_string(&report).expect("every field is valid JSON")
    }

    /// Returns annotations for the breaking changes, at their lines in `file`, which contains the
    /// document of `side`. Changes that fail have this level, other changes are warnings. The last
    /// annotation says how many changes have none. If only `fail_on` makes the check fail, an
    /// annotation says so.
    #[must_use]
    pub fn annotations(
        &self,
        file: &Path,
        side: Side,
        fail_on: Class,
        level: Level,
    ) -> Vec<String> {
        // GitHub's toolkit escapes a value like this.
        let file = printable(&file.display().to_string())
            .replace('%', "%25")
            .replace(':', "%3A")
            .replace(',', "%2C");
        let place = format!(" file={file}");
        let mut breaking = self.grouped();
        breaking.retain(|change| change.class >= Class::Source && change.accepted.is_none());
        let is_cut = breaking.len() > MOST_ANNOTATIONS;
        let shown = if is_cut { MOST_ANNOTATIONS - 1 } else { breaking.len() };
        let (shown, hidden) = breaking.split_at(shown);
        let annotation = |change: &Change| {
            let level = if change.class >= fail_on { level } else { Level::Warning };
            let line_number = match side {
                Side::Old => self.old.line(&change.in_both.old),
                Side::New => self.new.line(&change.in_both.new),
            };
            let at = line_number.map(|number| format!(",line={number}")).unwrap_or_default();
            for_github(level, &format!("{place}{at}"), &self.line(change))
        };
        let mut lines: Vec<String> = shown.iter().map(annotation).collect();
        if lines.is_empty() && self.status(fail_on) == 1 {
            lines.push(for_github(level, &place, &self.conclusion(fail_on)));
        }
        if is_cut {
            let message =
                format!("{} more changes break a client: the log lists them all", hidden.len());
            lines.push(for_github(level, &place, &message));
        }
        lines
    }
}

/// Quotes a text for TOML. Like [`printable`], it escapes control and invisible characters.
fn quoted(text: &str) -> String {
    let escaped = text.chars().map(|char| match char {
        '"' | '\\' => format!("\\{char}"),
        '\'' => char.to_string(),
        _ if char.escape_debug().count() == 1 => char.to_string(),
        _ => format!("\\U{:08X}", u32::from(char)),
    });
    format!("\"{}\"", escaped.collect::<String>().replace("##[", "##\\u005B"))
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
    conclusion: String,
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
