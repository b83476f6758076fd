//! In what two documents differ.
//!
//! Complete by construction: what is not equal lies at the place of a difference. Two orders do
//! not count: that of an object's members and that of a list whose items have names. Nothing here
//! knows what a difference means.

use std::collections::BTreeSet;
use std::fmt;

use indexmap::IndexMap;
use serde_json::Value;

use super::place::Place;

/// One difference, as small as it can be told.
pub struct Difference {
    pub place: Place,
    pub kind: Kind,
    /// The older document with this difference and no other.
    pub alone: Value,
}

#[derive(Clone, Copy)]
pub enum Kind {
    Added,
    Changed,
    Removed,
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

/// The members of an object, or the items of a list by their names.
type Members = IndexMap<String, Value>;

/// Every difference between two documents.
pub fn differences(old: &Value, new: &Value) -> Vec<Difference> {
    within(&Place::root(), Some(old), Some(new))
        .into_iter()
        .map(|(place, kind, alone)| {
            let alone = alone.expect("a document is not removed from itself");
            Difference { place, kind, alone }
        })
        .collect()
}

/// Each difference with the old value as it would be with that one alone; no value, where the
/// difference is its removal.
fn within(
    place: &Place,
    old: Option<&Value>,
    new: Option<&Value>,
) -> Vec<(Place, Kind, Option<Value>)> {
    match (old, new) {
        _ if old == new => Vec::new(),
        (Some(Value::Object(old)), Some(Value::Object(new))) if !place.is_whole() => {
            let members = |of: &serde_json::Map<String, Value>| of.clone().into_iter().collect();
            among(place, &members(old), &members(new), |alone| alone.into_iter().collect())
        }
        (Some(Value::Array(old)), Some(Value::Array(new))) if !place.is_whole() => {
            among(place, &named(old), &named(new), |alone| alone.into_values().collect())
        }
        _ => {
            let kind = match (old, new) {
                (None, _) => Kind::Added,
                (_, None) => Kind::Removed,
                _ => Kind::Changed,
            };
            vec![(place.clone(), kind, new.cloned())]
        }
    }
}

fn among(
    place: &Place,
    old: &Members,
    new: &Members,
    whole: impl Fn(Members) -> Value,
) -> Vec<(Place, Kind, Option<Value>)> {
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let mut found = Vec::new();
    for name in names {
        for (place, kind, member) in within(&place.step(name), old.get(name), new.get(name)) {
            let mut alone = old.clone();
            match member {
                Some(member) => alone.insert(name.clone(), member),
                None => alone.shift_remove(name),
            };
            found.push((place, kind, Some(whole(alone))));
        }
    }
    found
}

/// The items of a list by their names, where each has one of its own, else by their positions.
fn named(items: &[Value]) -> Members {
    let name = |item: &Value| item.as_str().or(item["name"].as_str()).map(str::to_owned);
    items
        .iter()
        .map(|item| Some((name(item)?, item.clone())))
        .collect::<Option<Members>>()
        .filter(|members| members.len() == items.len())
        .unwrap_or_else(|| {
            (0..).map(|position: usize| position.to_string()).zip(items.iter().cloned()).collect()
        })
}
