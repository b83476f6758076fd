//! One change, and how a person is told about it.

use std::collections::BTreeSet;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::Class;
use crate::kind::{Direction, Kind};
use crate::normalise::meaning;
use crate::place::Place;
use crate::pointer::{short, steps};

/// One change.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// What it means to a consumer.
    pub class: Class,
    /// The rule that says so.
    pub kind: Kind,
    /// Why.
    pub reason: &'static str,
    /// A JSON pointer: into the newer document, or into the older one for what was removed.
    pub place: String,
    /// Every such place, if several have the change.
    pub places: Vec<String>,
    /// The place in both documents, as far as each document has it.
    #[serde(skip)]
    pub(crate) in_both: Place,
    /// The place in words.
    #[serde(skip)]
    pub(crate) words: String,
    /// The older value; none if it was added.
    pub old: Option<Shown>,
    /// The newer value; none if it was removed.
    pub new: Option<Shown>,
    /// The difference of both values in one line, [`printable`]. With the same older document,
    /// another newer value hardly gives the same text: a file that accepts it accepts no other
    /// change.
    pub change: String,
    /// The operations that it reaches.
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
                let is_brief = old.brief != new.brief;
                let text = |told: &'_ Shown| {
                    if is_brief { told.brief.clone() } else { told.whole.clone() }
                };
                let [old, new] = difference(&text(old), &text(new));
                format!("{old} → {new}")
            }
            (Some(old), None) => format!("removed: {}", shortened(&old.brief)),
            (None, Some(new)) if kind == Kind::Text => format!("changed: {}", new.brief),
            (None, Some(new)) => format!("added: {}", shortened(&new.brief)),
            (None, None) => "not compared".to_owned(),
        });
        let is_used = !reach.operations.is_empty();
        // Generated code may use what no operation does in both ways.
        let direction = if is_used { reach.direction } else { Direction::BOTH };
        let place = if new.is_none() { &in_both.old } else { &in_both.new };
        Self {
            class: kind.class(is_used, direction),
            kind,
            reason: kind.reason(direction),
            place: place.clone(),
            places: vec![place.clone()],
            in_both,
            words: String::new(),
            old,
            new,
            change,
            operations: reach.operations,
            accepted: None,
        }
    }

    /// What is the same for a change that several operations or types have: all but their names
    /// and the statuses. The name of a type may be another one anywhere.
    pub(crate) fn what(&self) -> (Class, Kind, &str, Vec<String>) {
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

/// Who reaches a place.
#[derive(Clone, Default)]
pub struct Reach {
    pub direction: Direction,
    pub operations: BTreeSet<String>,
}

impl Reach {
    /// Adds these operations in this direction.
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

/// One change for all texts, at the first of them.
pub fn combine_texts(texts: &BTreeSet<(Place, Option<Shown>, Option<Shown>)>) -> Option<Change> {
    let (place, _, _) = texts.first()?;
    // One text may stand at many operations.
    let different: BTreeSet<_> = texts.iter().map(|(_, old, new)| (old, new)).collect();
    let new = Shown::text(&match different.len() {
        1 => "1 text".to_owned(),
        count => format!("{count} texts"),
    });
    Some(Change::new(Kind::Text, place.clone(), None, Some(new), Reach::default()))
}

/// A value: the whole of it for programs, and what a person has to know of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shown {
    /// The value as text or as JSON.
    pub whole: String,
    brief: String,
}

impl Shown {
    /// A value of a document.
    pub(crate) fn of(value: &Value) -> Self {
        let whole = match value {
            Value::String(text) => text.clone(),
            _ => meaning(value).to_string(),
        };
        Self { whole, brief: brief(value) }
    }

    pub(crate) fn text(text: &str) -> Self {
        Self { whole: text.to_owned(), brief: text.to_owned() }
    }

    /// The value with more behind it.
    pub(crate) fn and(self, more: &str) -> Self {
        Self { whole: self.whole + more, brief: self.brief + more }
    }
}

impl Serialize for Shown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.whole)
    }
}

/// A schema as a person reads it: its name or its type. Any other value as it is.
fn brief(value: &Value) -> String {
    let members =
        |name: &str| value[name].as_object().into_iter().flatten().map(|(name, _)| &name[..]);
    let list = |name: &str| value[name].as_array().into_iter().flatten();
    let joined = |all: Vec<&str>| all.join(", ");
    if let Some(text) = value.as_str() {
        return text.to_owned();
    }
    if let Some(pointer) = value["$ref"].as_str() {
        return short(pointer).to_owned();
    }
    let has = |name: &str| value.get(name).is_some();
    let kind = value["type"].as_str().unwrap_or_default();
    match kind {
        _ if ["oneOf", "anyOf"].into_iter().any(has) => {
            let cases: Vec<String> = list("oneOf").chain(list("anyOf")).map(brief).collect();
            format!("one of {}", cases.join(", "))
        }
        "object" if has("properties") => {
            format!("object {{{}}}", joined(members("properties").collect()))
        }
        "array" if has("items") => format!("array of {}", brief(&value["items"])),
        "" if has("schema") => brief(&value["schema"]),
        "" if has("content") => joined(members("content").collect()),
        "" => meaning(value).to_string(),
        _ if has("enum") => {
            let values: Vec<String> = list("enum").map(Value::to_string).collect();
            format!("{kind} {}", values.join(", "))
        }
        _ => match value["format"].as_str() {
            Some(format) => format!("{kind} ({format})"),
            None => kind.to_owned(),
        },
    }
}

/// The longest value that is shown whole, in characters.
const LONGEST: usize = 40;

/// Two values; of long ones that begin or end alike, only where they differ.
fn difference(old: &str, new: &str) -> [String; 2] {
    let [old, new] = [old, new].map(|text| text.chars().collect::<Vec<_>>());
    if old.len().max(new.len()) <= LONGEST {
        return [old, new].map(String::from_iter);
    }
    let same = |(one, other): &(&char, &char)| one == other;
    let start = old.iter().zip(&new).take_while(same).count();
    let end = old[start..].iter().rev().zip(new[start..].iter().rev()).take_while(same).count();
    // A few characters more show where it is.
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

/// The beginning of a text that is longer than so many characters.
pub fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest.saturating_sub(1)) {
        Some((at, _)) if text[at..].chars().nth(1).is_some() => format!("{}…", &text[..at]),
        _ => text.to_owned(),
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
