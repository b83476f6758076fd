//! One change, and its values as people read them.

use std::collections::BTreeSet;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::Class;
use crate::json::steps;
use crate::kind::{Direction, Kind};
use crate::text::{difference, printable, shortened};

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
    pub(crate) in_both: Pointers,
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
        in_both: Pointers,
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
        let mut within: Vec<String> = steps(&self.place).skip(3).collect();
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
        self.direction = self.direction.or(direction);
        self.operations.extend(operations.into_iter().cloned());
    }
}

/// A place in the older and in the newer document, each as a JSON pointer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pointers {
    pub old: String,
    pub new: String,
}

/// A value of a document, in full for programs and in brief for people.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shown {
    /// The value as text or as JSON.
    pub(crate) full: String,
    pub(crate) brief: String,
}

impl Shown {
    /// Shows a value of JSON: a string as it is.
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
