//! One change, and its values as people read them.

use std::collections::BTreeSet;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::Class;
use crate::json::{entries, items, text};
use crate::kind::{Direction, Kind};
use crate::normalise::meaning;
use crate::place::Place;
use crate::pointer::{short, steps};

/// One change.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// What it means to a consumer.
    pub class: Class,
    /// The rule that gives the class.
    pub kind: Kind,
    /// The reason for the class.
    pub reason: &'static str,
    /// A JSON pointer into the newer document, or into the older one for something removed.
    pub place: String,
    /// Every place that has the change.
    pub places: Vec<String>,
    /// The place in both documents, as far as each document contains it.
    #[serde(skip)]
    pub(crate) in_both: Place,
    /// The older value; none if it was added.
    pub old: Option<Shown>,
    /// The newer value; none if it was removed.
    pub new: Option<Shown>,
    /// The difference between both values in one [`printable`] line. It identifies the change at
    /// its place in the file of accepted changes.
    pub change: String,
    /// The operations that the change reaches.
    pub operations: BTreeSet<String>,
    /// When and why it was accepted.
    pub accepted: Option<String>,
}

impl Change {
    pub(crate) fn new(
        kind: Kind,
        in_both: Place,
        old: Option<Shown>,
        new: Option<Shown>,
        reach: Reach,
    ) -> Self {
        let change = printable(&match (&old, &new) {
            (Some(old), Some(new)) => {
                let [old, new] = match old.brief == new.brief {
                    true => difference(&old.full, &new.full),
                    false => difference(&old.brief, &new.brief),
                };
                format!("{old} → {new}")
            }
            (Some(old), None) => format!("removed: {}", shortened(&old.brief)),
            (None, Some(new)) if kind == Kind::Text => format!("changed: {}", new.brief),
            (None, Some(new)) => format!("added: {}", shortened(&new.brief)),
            (None, None) => "not compared".to_owned(),
        });
        let is_used = !reach.operations.is_empty();
        // Generated code may send and receive a type that no operation uses.
        let direction = if is_used { reach.direction } else { Direction::BOTH };
        let place = if new.is_none() { &in_both.old } else { &in_both.new };
        Self {
            class: kind.class(is_used, direction),
            kind,
            reason: kind.reason(direction),
            place: place.clone(),
            places: vec![place.clone()],
            in_both,
            old,
            new,
            change,
            operations: reach.operations,
            accepted: None,
        }
    }

    /// What equal changes of several operations or types have in common: everything except the
    /// names of the operations and types, and the statuses. A type may be renamed at any place.
    pub(crate) fn key(&self) -> (Class, Kind, &str, Vec<String>) {
        let mut within: Vec<String> = steps(&self.place).into_iter().skip(3).collect();
        if let [responses, status, ..] = &mut within[..]
            && responses == "responses"
        {
            status.clear();
        }
        if self.kind == Kind::TypeName {
            within.clear();
        }
        (self.class, self.kind, &self.change, within)
    }
}

/// The operations that reach a place, and in which direction.
#[derive(Clone, Default)]
pub struct Reach {
    pub direction: Direction,
    pub operations: BTreeSet<String>,
}

impl Reach {
    /// Adds operations that reach the place in this direction.
    pub fn add<'a>(
        &mut self,
        direction: Direction,
        operations: impl IntoIterator<Item = &'a String>,
    ) {
        self.direction.request |= direction.request;
        self.direction.response |= direction.response;
        self.operations.extend(operations.into_iter().cloned());
    }
}

/// Returns one change for all texts, at the place of the first one.
pub fn combine_texts(texts: &BTreeSet<(Place, Option<Shown>, Option<Shown>)>) -> Option<Change> {
    let (place, _, _) = texts.first()?;
    // Many operations may share one text.
    let different: BTreeSet<_> = texts.iter().map(|(_, old, new)| (old, new)).collect();
    let new = Shown::text(&match different.len() {
        1 => "1 text".to_owned(),
        count => format!("{count} texts"),
    });
    Some(Change::new(Kind::Text, place.clone(), None, Some(new), Reach::default()))
}

/// A value of a document, in full for programs and in brief for people.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shown {
    /// The value as text or as JSON.
    pub(crate) full: String,
    brief: String,
}

impl Shown {
    /// Shows a value of a document.
    pub(crate) fn of(value: &Value) -> Self {
        let full = match value {
            Value::String(text) => text.clone(),
            _ => meaning(value).to_string(),
        };
        Self { full, brief: brief(value) }
    }

    /// Shows a text.
    pub(crate) fn text(text: &str) -> Self {
        Self { full: text.to_owned(), brief: text.to_owned() }
    }

    /// Appends a text.
    pub(crate) fn and(self, more: &str) -> Self {
        Self { full: self.full + more, brief: self.brief + more }
    }
}

impl Serialize for Shown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.full)
    }
}

/// The name or the type of a schema; any other value as text or as JSON.
fn brief(value: &Value) -> String {
    let names = |name: &str| {
        let names: Vec<&str> = entries(&value[name]).map(|(name, _)| name.as_str()).collect();
        names.join(", ")
    };
    if let Some(text) = value.as_str() {
        return text.to_owned();
    }
    if let Some(pointer) = value["$ref"].as_str() {
        return short(pointer).to_owned();
    }
    let has = |name: &str| value.get(name).is_some();
    let kind = text(&value["type"]);
    match kind {
        _ if has("oneOf") || has("anyOf") => {
            let cases = [items(&value["oneOf"]), items(&value["anyOf"])].concat();
            let cases: Vec<String> = cases.iter().map(brief).collect();
            format!("one of {}", cases.join(", "))
        }
        "object" if has("properties") => format!("object {{{}}}", names("properties")),
        "array" if has("items") => format!("array of {}", brief(&value["items"])),
        "" if has("schema") => brief(&value["schema"]),
        "" if has("content") => names("content"),
        "" => meaning(value).to_string(),
        _ if has("enum") => {
            let values: Vec<String> = items(&value["enum"]).iter().map(Value::to_string).collect();
            format!("{kind} {}", values.join(", "))
        }
        _ => match value["format"].as_str() {
            Some(format) => format!("{kind} ({format})"),
            None => kind.to_owned(),
        },
    }
}

/// The longest value that is shown in full, in characters.
const LONGEST: usize = 40;

/// Returns two values. Of long values that begin or end alike, it returns where they differ.
fn difference(old: &str, new: &str) -> [String; 2] {
    let [old, new] = [old, new].map(|text| text.chars().collect::<Vec<_>>());
    if old.len().max(new.len()) <= LONGEST {
        return [old, new].map(String::from_iter);
    }
    let same = |(one, other): &(&char, &char)| one == other;
    let start = old.iter().zip(&new).take_while(same).count();
    let end = old[start..].iter().rev().zip(new[start..].iter().rev()).take_while(same).count();
    // A few more characters show where the difference is.
    let (start, end) = (start.saturating_sub(8), end.saturating_sub(8));
    [old, new].map(|text| {
        let middle: String = text[start..text.len() - end].iter().collect();
        let [before, after] = [start, end].map(|count| if count > 0 { "…" } else { "" });
        format!("{before}{}{after}", shortened(&middle))
    })
}

fn shortened(text: &str) -> String {
    cut(text, LONGEST)
}

/// Cuts a text that is longer than this number of characters.
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
