//! A change, and how its place and its values are shown.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;

use crate::Class;
use crate::kind::{Direction, Kind};

/// A change, or equal changes of several operations, statuses or types.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// Whom the change breaks.
    pub class: Class,
    /// The kind of change, which decides the class.
    pub kind: Kind,
    /// The reason for the class.
    pub reason: &'static str,
    /// The places that have the change, in words: `NewBook.id` or `query limit maximum`.
    pub places: BTreeSet<String>,
    /// What changed, in one [`printable`] line. With the place, it identifies the change in the
    /// file of accepted changes.
    pub change: String,
    /// The operations that the change reaches.
    pub operations: BTreeSet<String>,
    /// The reason for which the change was accepted.
    pub accepted: Option<String>,
}

impl Change {
    pub(crate) fn new(kind: Kind, change: String, place: &Place, reach: Reach) -> Self {
        let is_used = !reach.operations.is_empty();
        // Generated code may send or receive a type that no operation uses.
        let direction = if is_used { reach.direction } else { Direction::all() };
        Self {
            class: kind.class(is_used, direction),
            kind,
            reason: kind.reason(direction),
            places: BTreeSet::from([place.to_string()]),
            change,
            operations: reach.operations,
            accepted: None,
        }
    }
}

/// Writes a change as a line: the class, the first operation, the first place, what changed, and
/// the kind of change. Text of the documents is made [`printable`].
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { class, kind, places, change, operations, .. } = self;
        let operation = first_of(operations).unwrap_or_else(|| "no operation".to_owned());
        write!(f, "{:13}  {operation}", class.to_string())?;
        if let Some(place) = first_of(places).filter(|place| !place.is_empty()) {
            write!(f, "  {place}")?;
        }
        write!(f, "  {change}  ({kind})")
    }
}

/// The first one of several names, and the number of the others.
fn first_of(names: &BTreeSet<String>) -> Option<String> {
    let first = cut(&printable(names.first()?), LONGEST_NAME);
    let others = names.len() - 1;
    Some(if others == 0 { first } else { format!("{first} +{others}") })
}

/// The longest name of an operation or a place that is shown in full, in characters.
const LONGEST_NAME: usize = 60;

/// Shows the difference between two values in one [`printable`] line. An older value of `None` was
/// added, and a newer one was removed.
pub fn shown(old: Option<&str>, new: Option<&str>) -> String {
    printable(&match (old, new) {
        (Some(old), Some(new)) if old == new => format!("changed: {}", shortened(old)),
        (Some(old), Some(new)) => difference(old, new).join(" → "),
        (Some(old), None) => format!("removed: {}", shortened(old)),
        (None, Some(new)) => format!("added: {}", shortened(new)),
        (None, None) => "not compared".to_owned(),
    })
}

/// A place of the documents in words.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The type or the response that contains the place.
    pub owner: String,
    /// The place within its owner: `.id`, `[].title` or `query limit maximum`.
    pub path: String,
}

impl Place {
    /// The place of a whole type or response.
    pub fn of(owner: &str) -> Self {
        Self { owner: owner.to_owned(), path: String::new() }
    }

    /// The place of a member.
    pub fn below(&self, step: &str) -> Self {
        let Self { owner, path } = self;
        Self { owner: owner.clone(), path: joined(path, step) }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&joined(&self.owner, &self.path))
    }
}

/// Joins words. A property and the items of an array follow without a space.
fn joined(words: &str, more: &str) -> String {
    let is_apart = !words.is_empty() && !more.is_empty() && !more.starts_with(['.', '[']);
    format!("{words}{}{more}", if is_apart { " " } else { "" })
}

/// The operations that use a value, and whether they send it in requests or responses.
#[derive(Clone, Default)]
pub struct Reach {
    pub direction: Direction,
    pub operations: BTreeSet<String>,
}

impl Reach {
    /// Adds operations that use the value in this direction.
    pub fn add<'a>(
        &mut self,
        direction: Direction,
        operations: impl IntoIterator<Item = &'a String>,
    ) {
        self.direction |= direction;
        self.operations.extend(operations.into_iter().cloned());
    }
}

/// The longest value that is shown in full, in characters.
const LONGEST: usize = 40;

/// Shows two values. If one of them is long, their common beginning and end are left out.
pub fn difference(old: &str, new: &str) -> [String; 2] {
    let [old, new] = [old, new].map(|text| text.chars().collect::<Vec<_>>());
    if old.len().max(new.len()) <= LONGEST {
        return [old, new].map(String::from_iter);
    }
    let same = |(one, other): &(&char, &char)| one == other;
    let start = old.iter().zip(&new).take_while(same).count();
    let end = old[start..].iter().rev().zip(new[start..].iter().rev()).take_while(same).count();
    // Eight characters of the common text show where the difference is.
    let (start, end) = (start.saturating_sub(8), end.saturating_sub(8));
    [old, new].map(|text| {
        let middle: String = text[start..text.len() - end].iter().collect();
        let [before, after] = [start, end].map(|count| if count > 0 { "…" } else { "" });
        format!("{before}{}{after}", shortened(&middle))
    })
}

pub fn shortened(text: &str) -> String {
    cut(text, LONGEST)
}

/// Truncates a text to this number of characters.
pub fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest.saturating_sub(1)) {
        Some((at, _)) if text[at..].chars().nth(1).is_some() => format!("{}…", &text[..at]),
        _ => text.to_owned(),
    }
}

/// Escapes control characters, line breaks and invisible characters, so that a terminal shows every
/// character and a runner of GitHub runs no command.
#[must_use]
pub fn printable(text: &str) -> String {
    let escaped: String = text
        .chars()
        .map(|char| match char {
            '\'' | '"' | '\\' => char.to_string(),
            _ => char.escape_debug().to_string(),
        })
        .collect();
    // The runner finds this old form of a command anywhere in a line, and `::` only at its start.
    escaped.replace("##[", "##\\[")
}

/// A text as a JSON string, in quotes.
pub fn escaped(text: &str) -> String {
    serde_json::to_string(text).expect("a text is JSON")
}
