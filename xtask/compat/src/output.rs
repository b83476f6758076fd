//! What the command prints: lines for people, a changelog, JSON for programs, annotations for GitHub.

use std::cmp::Ordering::Greater;
use std::fmt::Write;
use std::path::Path;

use serde::Serialize;

use crate::{Args, Change, Class, Document, Format, Report, printable};

impl Report {
    /// All that is printed.
    #[must_use]
    pub fn print(&self, args: &Args) -> String {
        match args.format {
            Format::Text => self.text(),
            Format::Github => [vec![self.text()], self.annotations(&args.pinned, args.fail_on)]
                .concat()
                .join("\n"),
            Format::Json => self.json(args.fail_on),
            Format::Markdown => self.markdown(),
        }
    }

    fn is_backwards(&self) -> bool {
        self.old.version.cmp_precedence(&self.new.version) == Greater
    }

    /// What the changes mean.
    fn conclusion(&self) -> &'static str {
        match self.class() {
            _ if self.is_backwards() => {
                "the second document is the older one: if the two are swapped, name the pinned one first"
            }
            None if self.changes.is_empty() => "nothing changed",
            None => "nothing changed but what is accepted",
            Some(Class::Wire) => "what changed breaks a client that runs: see `breaks wire`",
            Some(Class::Source) => {
                "what changed breaks no client that runs, but code that is compiled against a client \
                 generated anew: see `breaks source`"
            }
            Some(Class::Words | Class::Additive) => "nothing that changed breaks a client",
        }
    }

    /// The exit status, if this is the lightest class that fails.
    #[must_use]
    pub fn status(&self, fail_on: Class) -> u8 {
        if self.is_backwards() { 2 } else { u8::from(self.class() >= Some(fail_on)) }
    }

    fn text(&self) -> String {
        let Self { old, new, .. } = self;
        let [pinned, published] = [old, new].map(|document| printable(&document.name));
        let (was, is, conclusion) = (&old.version, &new.version, self.conclusion());
        format!("{is} of {published}, since {was} of {pinned}:\n{self}{conclusion}")
    }

    /// The same for programs: the values whole, and the lines of the pinned document.
    fn json(&self, fail_on: Class) -> String {
        let report = Json {
            pinned: &self.old,
            published: &self.new,
            class: self.class(),
            conclusion: self.conclusion(),
            status: self.status(fail_on),
            changes: &self.changes,
            notes: &self.notes,
        };
        serde_json::to_string(&report).expect("all of it has a form in JSON")
    }

    /// An annotation for each breaking change, and one if the documents may be swapped. From `fail_on` on
    /// it is an error.
    #[must_use]
    pub fn annotations(&self, file: &Path, fail_on: Class) -> Vec<String> {
        // As the runner's toolkit escapes a value.
        let file = printable(&file.display().to_string());
        let file = file.replace('%', "%25").replace(':', "%3A").replace(',', "%2C");
        let swapped = self.is_backwards().then(|| for_github("error", "", self.conclusion()));
        let breaking = self
            .changes
            .iter()
            .filter(|change| change.class >= Class::Source && change.accepted.is_none())
            .map(|change| {
                let Change { class, line, column, .. } = change;
                let level = if *class >= fail_on { "error" } else { "warning" };
                let place = format!(" file={file},line={line},col={column}");
                for_github(level, &place, &change.to_string())
            });
        swapped.into_iter().chain(breaking).collect()
    }

    /// A changelog for consumers.
    #[must_use]
    pub fn markdown(&self) -> String {
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
                let what = printable(&format!("{} {}", change.place, change.change));
                let what = what.replace('`', "'");
                let why = printable(change.accepted.as_deref().unwrap_or(&change.reason));
                let why = why.replace(['<', '[', '`', '|'], "'");
                let _ = writeln!(page, "- `{what}`: {why} (`{}`)", change.rule);
            }
        }
        let _ = write!(page, "\n{}", self.conclusion());
        page
    }
}

/// The form for programs. It borrows, as the values of a large document take much memory.
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

/// A command of GitHub's runner that shows an error or a warning. The message is one line.
pub fn for_github(level: &str, place: &str, message: &str) -> String {
    format!("::{level}{place}::{}", message.replace('%', "%25"))
}
