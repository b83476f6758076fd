//! A change, and how its values are shown.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::Class;
use crate::json::steps;
use crate::kind::{Direction, Kind};
use crate::text::{difference, printable, shortened};

/// A change.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// Whom the change breaks.
    pub class: Class,
    /// The kind of change, which decides the class.
    pub kind: Kind,
    /// The reason for the class.
    pub reason: &'static str,
    /// A JSON pointer into the newer document, or into the older one if the value was removed.
    pub place: String,
    /// Every place that has the change.
    pub places: Vec<String>,
    /// The older value; `None` if it was added.
    pub old: Option<Shown>,
    /// The newer value; `None` if it was removed.
    pub new: Option<Shown>,
    /// The difference between both values in one [`printable`] line. With the place, it identifies
    /// the change in the file of accepted changes.
    pub change: String,
    /// The operations that the change reaches.
    pub operations: BTreeSet<String>,
    /// The reason for which the change was accepted.
    pub accepted: Option<String>,
}

impl Change {
    pub(crate) fn new(
        kind: Kind,
        place: String,
        old: Option<Shown>,
        new: Option<Shown>,
        reach: Reach,
    ) -> Self {
        let change = printable(&match (&old, &new) {
            (Some(old), Some(new)) => {
                let [old, new] = if old.brief == new.brief {
                    difference(&old.full, &new.full)
                } else {
                    difference(&old.brief, &new.brief)
                };
                format!("{old} → {new}")
            }
            (Some(old), None) => format!("removed: {}", shortened(&old.brief)),
            (None, Some(new)) => format!("added: {}", shortened(&new.brief)),
            (None, None) if kind == Kind::Text => "text or spelling".to_owned(),
            (None, None) => "not compared".to_owned(),
        });
        let is_used = !reach.operations.is_empty();
        // Generated code may send or receive a type that no operation uses.
        let direction = if is_used { reach.direction } else { Direction::all() };
        Self {
            class: kind.class(is_used, direction),
            kind,
            reason: kind.reason(direction),
            places: vec![place.clone()],
            place,
            old,
            new,
            change,
            operations: reach.operations,
            accepted: None,
        }
    }

    /// The key leaves out the names of operations, types and statuses, and the whole place if a
    /// type was renamed.
    pub(crate) fn key(&self) -> Key<'_> {
        let mut place: Vec<String> = steps(&self.place).skip(3).collect();
        if let [responses, status, ..] = &mut place[..]
            && responses == "responses"
        {
            status.clear();
        }
        if self.kind == Kind::TypeName {
            place.clear();
        }
        Key { class: Reverse(self.class), kind: self.kind, change: &self.change, place }
    }
}

/// The key of a change. Changes with equal keys are printed as one line.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key<'a> {
    /// The most severe class comes first.
    class: Reverse<Class>,
    kind: Kind,
    change: &'a str,
    place: Vec<String>,
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

/// A value of a document, in full for programs and in brief for people.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shown {
    /// The value as text or as JSON.
    pub(crate) full: String,
    pub(crate) brief: String,
}

impl Shown {
    /// Shows a JSON value. A string is shown without quotes.
    pub(crate) fn json(json: &str) -> Self {
        match serde_json::from_str(json) {
            Ok(Value::String(text)) => Self::text(&text),
            _ => Self::text(json),
        }
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
