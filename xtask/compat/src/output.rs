//! What the command prints: lines for people, a changelog, JSON for programs, annotations for
//! GitHub.

use std::cmp::Ordering::Greater;
use std::fmt::Write;
use std::path::Path;

use serde::Serialize;
use strum::Display;

use crate::json::Position;
use crate::{Args, Change, Class, Document, Format, Report, printable};

impl Report {
    /// The text to print, in the format of the arguments.
    #[must_use]
    pub fn render(&self, args: &Args) -> String {
        match args.format {
            Format::Text => self.text(args.fail_on),
            Format::Github => {
                let mut lines = vec![self.text(args.fail_on)];
                lines.extend(self.annotations(&args.pinned, args.fail_on, Level::Error));
                lines.join("\n")
            }
            Format::Json => self.json(args.fail_on),
            Format::Markdown => self.markdown(args.fail_on),
        }
    }

    fn is_backwards(&self) -> bool {
        self.old.version.cmp_precedence(&self.new.version) == Greater
    }

    /// What the changes mean in a line, if this is the lightest class that fails.
    fn conclusion(&self, fail_on: Class) -> String {
        let meaning = self.meaning();
        if self.fails_by_choice(fail_on) {
            format!("{meaning}, but it fails because of `--fail-on {}`", fail_on.argument())
        } else {
            meaning.to_owned()
        }
    }

    fn meaning(&self) -> &'static str {
        if self.is_backwards() {
            return "the second document is the older one: if the two are swapped, name the pinned \
                    one first";
        }
        match self.class() {
            None if self.changes.is_empty() => "nothing changed",
            None => "nothing changed but what is accepted",
            Some(Class::Wire) => "what changed breaks a client that runs: see `breaks wire`",
            Some(Class::Source) => {
                "what changed breaks no client that runs, but code that is compiled against a \
                 client generated anew: see `breaks source`"
            }
            Some(Class::Words | Class::Additive) => "nothing that changed breaks a client",
        }
    }

    /// Whether it fails though no client breaks.
    fn fails_by_choice(&self, fail_on: Class) -> bool {
        self.status(fail_on) == 1 && self.class() < Some(Class::Source)
    }

    /// The exit status, if this is the lightest class that fails.
    #[must_use]
    pub fn status(&self, fail_on: Class) -> u8 {
        if self.is_backwards() { 2 } else { u8::from(self.class() >= Some(fail_on)) }
    }

    fn text(&self, fail_on: Class) -> String {
        let Self { old, new, .. } = self;
        let pinned = printable(&old.name);
        let published = printable(&new.name);
        let conclusion = self.conclusion(fail_on);
        format!(
            "{} of {published}, since {} of {pinned}:\n{self}{conclusion}",
            new.version, old.version
        )
    }

    /// The same for programs: the values whole, and the lines of the pinned document.
    fn json(&self, fail_on: Class) -> String {
        let report = Json {
            pinned: &self.old,
            published: &self.new,
            class: self.class(),
            conclusion: self.conclusion(fail_on),
            status: self.status(fail_on),
            changes: &self.changes,
            notes: &self.notes,
        };
        serde_json::to_string(&report).expect("all of it has a form in JSON")
    }

    /// An annotation for each breaking change, and one if the documents may be swapped or if only
    /// `fail_on` makes it fail. From `fail_on` on it has this level, else it is a warning.
    #[must_use]
    pub fn annotations(&self, file: &Path, fail_on: Class, level: Level) -> Vec<String> {
        // As the runner's toolkit escapes a value.
        let file = printable(&file.display().to_string())
            .replace('%', "%25")
            .replace(':', "%3A")
            .replace(',', "%2C");
        let has_no_place = self.is_backwards() || self.fails_by_choice(fail_on);
        let as_a_whole = has_no_place.then(|| for_github(level, "", &self.conclusion(fail_on)));
        let breaking = self
            .changes
            .iter()
            .filter(|change| change.class >= Class::Source && change.accepted.is_none())
            .map(|change| {
                let level = if change.class >= fail_on { level } else { Level::Warning };
                let position = change
                    .position
                    .map(|Position { line, column }| format!(",line={line},col={column}"));
                let place = format!(" file={file}{}", position.unwrap_or_default());
                for_github(level, &place, &change.to_string())
            });
        as_a_whole.into_iter().chain(breaking).collect()
    }

    /// A changelog for consumers. It ends with what the changes mean, if `fail_on` is the lightest
    /// class that fails.
    #[must_use]
    pub fn markdown(&self, fail_on: Class) -> String {
        let mut page = format!("# {}, since {}\n", self.new.version, self.old.version);
        for (title, class) in [
            ("Breaks a client that runs", Some(Class::Wire)),
            ("Breaks code that is compiled against a client generated anew", Some(Class::Source)),
            ("Is new, and breaks nothing", Some(Class::Additive)),
            ("Words", Some(Class::Words)),
            ("Was accepted", None),
        ] {
            let of_class = |change: &&Change| {
                class == Some(change.class).filter(|_| change.accepted.is_none())
            };
            for (at, change) in self.changes.iter().filter(of_class).enumerate() {
                if at == 0 {
                    let _ = write!(page, "\n## {title}\n\n");
                }
                // Nothing of the documents is markup.
                let told = format!("{} {}", change.place, change.change);
                let what = printable(&told).replace('`', "'");
                let reason = change.accepted.as_deref().unwrap_or(&change.reason);
                let why = printable(reason).replace(['<', '[', '`', '|'], "'");
                let _ = writeln!(page, "- `{what}`: {why} (`{}`)", change.rule);
            }
        }
        let _ = write!(page, "\n{}", self.conclusion(fail_on));
        page
    }
}

/// The form for programs. It borrows, as the values of a large document take much memory.
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
