//! What the command prints: lines for people, a changelog, JSON for programs, annotations for GitHub.

use std::cmp::Ordering::Greater;
use std::fmt::Write;
use std::path::Path;

use semver::Version;
use serde::Serialize;

use crate::{Change, Class, Format, Position, Report, printable};

/// What changed between two documents, and where that is in the pinned one.
pub struct Comparison {
    /// The names of the pinned document and of the published one.
    pub names: [String; 2],
    /// What changed.
    pub report: Report,
    /// The lightest class that fails.
    pub fail_on: Class,
    /// A position for each change; none if the format needs none.
    pub positions: Vec<Position>,
}

impl Comparison {
    /// All that is printed. `file` is the pinned document.
    pub fn print(&self, format: Format, file: &Path) -> String {
        match format {
            Format::Text => self.text(),
            Format::Github => [vec![self.text()], self.annotations(file)].concat().join("\n"),
            Format::Json => self.json(),
            Format::Markdown => self.markdown(),
        }
    }

    /// What the changes mean, and the exit status.
    pub fn conclusion(&self) -> (&'static str, u8) {
        let Report { old, new, changes, .. } = &self.report;
        let class = self.report.class();
        let conclusion = match class {
            _ if old.cmp_precedence(new) == Greater => {
                let mend = "the second document is the older one: if the two are swapped, name the \
                            pinned one first";
                return (mend, 2);
            }
            None if changes.is_empty() => "nothing changed",
            None => "nothing changed but what is accepted",
            Some(Class::Wire) => "what changed breaks a client that runs: see `breaks wire`",
            Some(Class::Source) => {
                "what changed breaks no client that runs, but code that is compiled against a client \
                 generated anew: see `breaks source`"
            }
            Some(Class::Words | Class::Additive) => "nothing that changed breaks a client",
        };
        (conclusion, u8::from(class >= Some(self.fail_on)))
    }

    fn text(&self) -> String {
        let Report { old, new, .. } = &self.report;
        let [pinned, published] = [&self.names[0], &self.names[1]].map(|name| printable(name));
        let conclusion = self.conclusion().0;
        format!("{new} of {published}, since {old} of {pinned}:\n{}{conclusion}", self.report)
    }

    /// The same for programs: the values whole, and the lines of the pinned document.
    fn json(&self) -> String {
        let Report { changes, old, new, notes } = &self.report;
        let (conclusion, status) = self.conclusion();
        let positions = changes.iter().zip(&self.positions);
        let report = Json {
            pinned: Named { name: &self.names[0], version: old },
            published: Named { name: &self.names[1], version: new },
            class: self.report.class(),
            conclusion,
            status,
            changes: positions
                .map(|(whole, &(line, column))| Placed {
                    whole,
                    change: whole.what(),
                    line,
                    column,
                })
                .collect(),
            notes,
        };
        serde_json::to_string(&report).expect("all of it has a form in JSON")
    }

    /// An annotation for each breaking change, and one if the documents may be swapped.
    pub fn annotations(&self, file: &Path) -> Vec<String> {
        let file = for_property(&file.display().to_string());
        let swapped = Some(self.conclusion()).filter(|(_, status)| *status == 2);
        let swapped = swapped.map(|(conclusion, _)| for_github("error", "", conclusion));
        let changes = self.report.changes.iter().zip(&self.positions);
        let breaking = changes
            .filter(|(change, _)| change.class >= Class::Source && change.accepted.is_none())
            .map(|(change, (line, column))| {
                let level = if change.class >= self.fail_on { "error" } else { "warning" };
                let place = format!(" file={file},line={line},col={column}");
                for_github(level, &place, &change.to_string())
            });
        swapped.into_iter().chain(breaking).collect()
    }

    fn markdown(&self) -> String {
        let Report { changes, old, new, .. } = &self.report;
        let mut page = format!("# {new}, since {old}\n");
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
            for (at, change) in changes.iter().filter(of_class).enumerate() {
                if at == 0 {
                    let _ = write!(page, "\n## {title}\n\n");
                }
                let what = code(&format!("{} {}", change.place, change.what()));
                let why = printable(change.accepted.as_ref().unwrap_or(&change.reason));
                let _ = writeln!(page, "- {what}: {} (`{}`)", text(&why), change.rule);
            }
        }
        let _ = write!(page, "\n{}", self.conclusion().0);
        page
    }
}

/// The form for programs. It borrows, as the values of a large document take much memory.
#[derive(Serialize)]
struct Json<'a> {
    pinned: Named<'a>,
    published: Named<'a>,
    class: Option<Class>,
    conclusion: &'a str,
    status: u8,
    changes: Vec<Placed<'a>>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
    version: &'a Version,
}

#[derive(Serialize)]
struct Placed<'a> {
    #[serde(flatten)]
    whole: &'a Change,
    change: String,
    line: usize,
    column: usize,
}

/// A code span of Markdown.
fn code(value: &str) -> String {
    format!("`{}`", printable(value).replace('`', "'"))
}

/// A text in Markdown, in which nothing of the documents is markup.
fn text(value: &str) -> String {
    value.replace(['<', '[', '`', '|'], "'")
}

/// A command of GitHub's runner that shows an error or a warning. The message is one line.
pub fn for_github(level: &str, place: &str, message: &str) -> String {
    format!("::{level}{place}::{}", message.replace('%', "%25"))
}

/// A value of such a command, as the runner's toolkit escapes it.
fn for_property(value: &str) -> String {
    printable(value).replace('%', "%25").replace(':', "%3A").replace(',', "%2C")
}
