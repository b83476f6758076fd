//! What the command prints: lines for people, JSON for programs, annotations for GitHub.

use std::cmp::Ordering::Greater;
use std::fmt;
use std::path::Path;

use plant_store_compat::{Change, Class, Document, Position, Report, parse_yaml, printable};
use serde_json::{Value, json};

/// Two documents and what changed between them.
pub struct Comparison<'a> {
    pub pinned: &'a Document,
    /// The text of the pinned document.
    pub text: &'a str,
    pub published: &'a Document,
    pub report: Report,
}

impl Comparison<'_> {
    /// What the changes mean, and the exit status.
    pub fn conclusion(&self) -> (&'static str, u8) {
        let Report { old, new, .. } = &self.report;
        match self.report.class() {
            _ if old.cmp_precedence(new) == Greater => (
                "the second document is the older one: if the two are swapped, name the pinned one \
                 first",
                2,
            ),
            None if self.report.changes.is_empty() => ("nothing changed", 0),
            None => ("nothing changed but what is accepted", 0),
            Some(Class::Breaking) => {
                ("what changed breaks a client: see the lines that begin with `breaking`", 1)
            }
            Some(Class::Words | Class::Additive) => ("nothing that changed breaks a client", 0),
        }
    }

    /// The same for programs: the values whole, and the lines of the pinned document.
    pub fn json(&self) -> Value {
        let document = |document: &Document| json!({"name": document.name, "version": document.version.to_string()});
        let (conclusion, status) = self.conclusion();
        let changes: Vec<Value> = self
            .positions()
            .into_iter()
            .map(|(change, position)| {
                json!({
                    "class": change.class.to_string(),
                    "place": change.place.to_string(),
                    "kind": change.kind.to_string(),
                    "old": change.old,
                    "new": change.new,
                    "accepted": change.accepted,
                    "line": position.map(|(line, _)| line),
                    "column": position.map(|(_, column)| column),
                })
            })
            .collect();
        json!({
            "pinned": document(self.pinned),
            "published": document(self.published),
            "class": self.report.class().map(|class| class.to_string()),
            "conclusion": conclusion,
            "status": status,
            "changes": changes,
            "notes": self.report.notes,
        })
    }

    /// An annotation for each breaking change, and one if the documents may be swapped.
    pub fn annotations(&self, file: &Path) -> Vec<String> {
        let file = for_property(&file.display().to_string());
        let mut annotations = Vec::new();
        if let (conclusion, 2) = self.conclusion() {
            annotations.push(for_github("", conclusion));
        }
        for (change, position) in self.positions() {
            if change.class == Class::Breaking && change.accepted.is_none() {
                let (line, column) = position.unwrap_or((1, 1));
                let place = format!(" file={file},line={line},col={column}");
                annotations.push(for_github(&place, &change.to_string()));
            }
        }
        annotations
    }

    /// The changes with their positions in the pinned document. What was added there has the position
    /// of the nearest value around it.
    fn positions(&self) -> Vec<(&Change, Option<Position>)> {
        let positions = parse_yaml(self.text).map(|yaml| yaml.positions).unwrap_or_default();
        let position =
            |change: &Change| positions.get(&change.place.pointer(&self.pinned.json)).copied();
        self.report.changes.iter().map(|change| (change, position(change))).collect()
    }
}

impl fmt::Display for Comparison<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { changes, old, new, notes } = &self.report;
        let names = [self.published, self.pinned].map(|document| printable(&document.name));
        writeln!(f, "{new} of {}, since {old} of {}:", names[0], names[1])?;
        changes.iter().try_for_each(|change| writeln!(f, "{change}"))?;
        notes.iter().try_for_each(|note| writeln!(f, "note: {}", printable(note)))?;
        f.write_str(self.conclusion().0)
    }
}

/// A command of GitHub's runner that shows an error. The message is one line.
pub fn for_github(place: &str, message: &str) -> String {
    format!("::error{place}::{}", message.replace('%', "%25"))
}

/// A value of such a command, as the runner's toolkit escapes it.
fn for_property(value: &str) -> String {
    printable(value).replace('%', "%25").replace(':', "%3A").replace(',', "%2C")
}
