//! One change, and how a person is told about it.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::Class;
use crate::compare::Reach;
use crate::kind::Kind;

/// One change.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// What it means to a consumer.
    pub class: Class,
    /// The rule that says so.
    pub kind: Kind,
    /// Why.
    pub reason: &'static str,
    /// Its place: a JSON pointer into the document in one spelling, with names instead of numbers in
    /// lists.
    pub place: String,
    /// The other places where it stands, if several operations have it.
    pub others: Vec<String>,
    /// The older value; none if it was added.
    pub old: Option<String>,
    /// The newer value; none if it was removed.
    pub new: Option<String>,
    /// The older and the newer value as one text, [`printable`]. Other values hardly give the same
    /// text: a file that accepts it accepts no other change.
    pub change: String,
    /// The operations that it reaches.
    pub operations: BTreeSet<String>,
    /// When and why it was accepted.
    pub accepted: Option<String>,
}

impl Change {
    pub(crate) fn new(
        kind: Kind,
        place: String,
        old: Option<String>,
        new: Option<String>,
        reach: Reach,
    ) -> Self {
        let change = printable(&match (&old, &new) {
            (Some(old), Some(new)) => format!("{} → {}", shortened(old), shortened(new)),
            (Some(old), None) => format!("removed: {}", shortened(old)),
            (None, Some(new)) if kind == Kind::Text => format!("changed: {new}"),
            (None, Some(new)) => format!("added: {}", shortened(new)),
            (None, None) => "not compared".to_owned(),
        });
        Self {
            class: kind.class(!reach.operations.is_empty(), reach.direction),
            kind,
            reason: kind.reason(reach.direction),
            place,
            others: Vec::new(),
            old,
            new,
            change,
            operations: reach.operations,
            accepted: None,
        }
    }

    /// What is the same for a change that several operations or types have: all but their names,
    /// which are the first four steps of a place.
    pub(crate) fn what(&self) -> (Class, Kind, &str, &str) {
        let mut slashes = self.place.match_indices('/');
        let within = slashes.nth(3).map_or(&self.place[..], |(at, _)| &self.place[at..]);
        (self.class, self.kind, &self.change, within)
    }
}

/// So many operations of a change are named in a line.
const NAMED: usize = 5;

/// One line, in which everything of the documents is [`printable`].
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { class, kind, reason, change, operations, accepted, .. } = self;
        let place = match self.others.len() {
            0 => self.place.clone(),
            1 => format!("{} and 1 more place", self.place),
            count => format!("{} and {count} more places", self.place),
        };
        let (verdict, why) = match accepted {
            Some(why) => ("accepted".to_owned(), format!("{class}; {why}")),
            None => (class.to_string(), format!("{kind}: {reason}")),
        };
        let named: Vec<&str> = operations.iter().take(NAMED).map(String::as_str).collect();
        let mut reached = named.join(", ");
        if operations.len() > NAMED {
            reached = format!("{reached} and {} more", operations.len() - NAMED);
        }
        if !reached.is_empty() {
            reached = format!("; {reached}");
        }
        let line = format!("{place}  {change}  ({why}{reached})");
        write!(f, "{verdict:13}  {}", printable(&line))
    }
}

/// A text of which a terminal shows each character and a runner of GitHub runs no command: control
/// characters, line breaks and invisible characters are escaped.
#[must_use]
pub fn printable(text: &str) -> String {
    let escaped: String = text
        .chars()
        .map(|char| match char {
            '\'' | '"' | '\\' => char.to_string(),
            _ => char.escape_debug().to_string(),
        })
        .collect();
    // The runner looks for this old form of a command in the whole line, for `::` only at its
    // start.
    escaped.replace("##[", "##\\[")
}

/// A text; of a long one the beginning, and a hash of the whole.
fn shortened(text: &str) -> String {
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    let beginning: String = text.chars().take(LONGEST / 2).collect();
    let hash = Sha256::digest(text);
    let hash = hash[..6].iter().fold(String::new(), |hash, byte| format!("{hash}{byte:02x}"));
    format!("{beginning}… ({hash})")
}

/// The longest value that is shown whole, in characters.
const LONGEST: usize = 100;
