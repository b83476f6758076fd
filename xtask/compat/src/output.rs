//! What is printed: text for people, JSON for programs, annotations for GitHub.
//!
//! The conclusion is first and last. Nothing here decides what a change means.

use std::fmt;
use std::path::Path;

use serde::Serialize;
use strum::Display;

use crate::change::printable;
use crate::{Args, Change, Class, Document, Format, Report};

/// More annotations are not shown: GitHub shows ten of a step.
const MOST_ANNOTATIONS: usize = 10;

/// The changes and the notes, a line for each.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for change in self.told() {
            writeln!(f, "{change}")?;
        }
        for note in &self.notes {
            writeln!(f, "note: {}", printable(note))?;
        }
        Ok(())
    }
}

impl Report {
    /// What the program has to print, in the format of the arguments.
    #[must_use]
    pub fn render(&self, args: &Args) -> String {
        match args.format {
            Format::Text => self.text(args.fail_on),
            Format::Github => {
                let lines = self.annotations(&args.pinned, args.fail_on, Level::Error);
                [vec![self.text(args.fail_on)], lines].concat().join("\n")
            }
            Format::Json => self.json(args.fail_on),
        }
    }

    /// The exit status, if this is the lightest class that fails.
    #[must_use]
    pub fn status(&self, fail_on: Class) -> u8 {
        u8::from(self.class() >= Some(fail_on))
    }

    /// What the changes mean in a line, if this is the lightest class that fails.
    fn conclusion(&self, fail_on: Class) -> String {
        let meaning = match self.class() {
            None if self.changes.is_empty() => "nothing changed",
            None => "nothing changed but what is accepted",
            Some(Class::Wire) => "what changed breaks a client that runs",
            Some(Class::Source) => {
                "what changed breaks no client that runs, but code that is compiled against a \
                 client generated again"
            }
            Some(Class::Words | Class::Additive) => "nothing that changed breaks a client",
        };
        let fails_by_choice = self.status(fail_on) == 1 && self.class() < Some(Class::Source);
        if fails_by_choice {
            format!("{meaning}, but it fails because of `--fail-on {}`", fail_on.argument())
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
        format!("{first}{self}{conclusion}")
    }

    /// The same for programs: the values whole.
    fn json(&self, fail_on: Class) -> String {
        let report = Json {
            pinned: &self.old,
            published: &self.new,
            class: self.class(),
            conclusion: self.conclusion(fail_on),
            status: self.status(fail_on),
            changes: &self.told(),
            notes: &self.notes,
        };
        serde_json::to_string(&report).expect("all of it has a form in JSON")
    }

    /// An annotation for each of the first breaking changes, and one if only `fail_on` makes it
    /// fail. From `fail_on` on it has this level, else it is a warning. The last one says how many
    /// are not shown.
    #[must_use]
    pub fn annotations(&self, file: &Path, fail_on: Class, level: Level) -> Vec<String> {
        // As the runner's toolkit escapes a value.
        let file = printable(&file.display().to_string())
            .replace('%', "%25")
            .replace(':', "%3A")
            .replace(',', "%2C");
        let place = format!(" file={file}");
        let breaking = self
            .told()
            .into_iter()
            .filter(|change| change.class >= Class::Source && change.accepted.is_none());
        let mut lines: Vec<String> = breaking
            .map(|change| {
                let level = if change.class >= fail_on { level } else { Level::Warning };
                for_github(level, &place, &change.to_string())
            })
            .collect();
        if lines.is_empty() && self.status(fail_on) == 1 {
            lines.push(for_github(level, &place, &self.conclusion(fail_on)));
        }
        if lines.len() > MOST_ANNOTATIONS {
            let hidden = lines.split_off(MOST_ANNOTATIONS - 1).len();
            let message = format!("{hidden} more changes break a client: the log has them all");
            lines.push(for_github(level, &place, &message));
        }
        lines
    }
}

/// The form for programs.
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

/// How GitHub's runner shows an annotation.
#[derive(Clone, Copy, Display)]
#[strum(serialize_all = "lowercase")]
pub enum Level {
    /// As a reason why a check fails.
    Error,
    /// As a hint.
    Warning,
}

/// A command of GitHub's runner that shows an error or a warning. The message is one line.
pub fn for_github(level: Level, place: &str, message: &str) -> String {
    format!("::{level}{place}::{}", message.replace('%', "%25"))
}
