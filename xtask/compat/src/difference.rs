//! The differences between two documents.
//!
//! The list is complete by construction: every value that is not equal is at the place of a
//! difference, or below it. The order of an object's members does not count, and the order of a
//! list whose items have names does not count either. This module does not know what a difference
//! means.

use std::collections::BTreeSet;
use std::fmt;

use indexmap::IndexMap;
use serde_json::Value;

use crate::place::{Place, members};

/// One difference, at the innermost place that has it.
pub struct Difference<'a> {
    pub place: Place,
    /// The older value; none if it was added.
    pub old: Option<&'a Value>,
    /// The newer value; none if it was removed.
    pub new: Option<&'a Value>,
}

/// What happened at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only the newer document has it.
    Added,
    /// Both documents have it, with different values.
    Changed,
    /// Only the older document has it.
    Removed,
}

impl Difference<'_> {
    pub fn kind(&self) -> Kind {
        match (self.old, self.new) {
            (None, _) => Kind::Added,
            (_, None) => Kind::Removed,
            _ => Kind::Changed,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Removed => "removed",
        })
    }
}

/// Every difference between two documents.
pub fn differences<'a>(old: &'a Value, new: &'a Value) -> Vec<Difference<'a>> {
    let mut found = Vec::new();
    look(Place::root(), Some(old), Some(new), &mut found);
    found
}

fn look<'a>(
    place: Place,
    old: Option<&'a Value>,
    new: Option<&'a Value>,
    found: &mut Vec<Difference<'a>>,
) {
    if old == new {
        return;
    }
    let has_parts = match (old, new) {
        (Some(Value::Object(_)), Some(Value::Object(_)))
        | (Some(Value::Array(_)), Some(Value::Array(_))) => true,
        (None, Some(Value::Object(_) | Value::Array(_)))
        | (Some(Value::Object(_) | Value::Array(_)), None) => place.is_collection(),
        _ => false,
    };
    if !has_parts || (place.is_whole() && !place.is_of_codes()) {
        found.push(Difference { place, old, new });
        return;
    }
    let [old, new]: [IndexMap<_, _>; 2] =
        [old, new].map(|value| value.map(members).unwrap_or_default());
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    for name in names {
        look(place.step(name), old.get(name).copied(), new.get(name).copied(), found);
    }
}
