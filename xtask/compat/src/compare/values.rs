//! What changed about the values that a schema allows: types, formats, enumerations, bounds.

use std::cmp::Ordering::{Equal, Greater, Less};
use std::collections::BTreeSet;

use serde_json::Value;

use super::{Comparison, Here, members};
use crate::change::Told;
use crate::kind::Kind;
use crate::normalise::number::{is_multiple, order};

impl Comparison<'_> {
    pub(super) fn values(&mut self, here: &Here, old: Option<&Value>, new: Option<&Value>) {
        let (Some(Value::Array(old)), Some(Value::Array(new))) = (old, new) else {
            let kind = if new.is_some() { Kind::ListAdded } else { Kind::ListRemoved };
            return self.value(here, kind, old, new);
        };
        let [old, new] =
            [old, new].map(|list| list.iter().map(Value::to_string).collect::<BTreeSet<_>>());
        let [gone, came] = [&old - &new, &new - &old]
            .map(|only| (!only.is_empty()).then(|| Vec::from_iter(only).join(", ")));
        let kind = match (&gone, &came) {
            (None, None) => return,
            (Some(_), Some(_)) => Kind::Values,
            (Some(_), None) => Kind::ValuesRemoved,
            (None, Some(_)) => Kind::ValuesAdded,
        };
        let [gone, came] = [gone, came].map(|only| Some(Told::text(&only?)));
        self.say(here, kind, gone, came);
    }

    pub(super) fn bound(
        &mut self,
        here: &Here,
        name: &str,
        old: Option<&Value>,
        new: Option<&Value>,
    ) {
        let number = |bound: &'_ Value| bound.get("exclusive").unwrap_or(bound).clone();
        let kind = match (old, new) {
            (Some(old), Some(new)) => match order(&number(old), &number(new)) {
                Some(Less) if name.starts_with("max") => Kind::LimitLoosened,
                Some(Greater) if name.starts_with("min") => Kind::LimitLoosened,
                Some(Equal) if new.get("exclusive").is_none() => Kind::LimitLoosened,
                None => Kind::Unknown,
                _ => Kind::LimitTightened,
            },
            (None, _) => Kind::LimitTightened,
            _ => Kind::LimitLoosened,
        };
        self.value(here, kind, old, new);
    }

    pub(super) fn multiple(&mut self, here: &Here, old: Option<&Value>, new: Option<&Value>) {
        match (old, new) {
            (Some(before), Some(after)) if is_multiple(after, before) => {
                self.value(here, Kind::LimitTightened, old, new);
            }
            (Some(before), Some(after)) if is_multiple(before, after) => {
                self.value(here, Kind::LimitLoosened, old, new);
            }
            _ => self.rule(here, old, new),
        }
    }

    /// A limit of which nobody can say which of two values allows more.
    pub(super) fn rule(&mut self, here: &Here, old: Option<&Value>, new: Option<&Value>) {
        let kind = match (old, new) {
            (None, _) => Kind::LimitTightened,
            (_, None) => Kind::LimitLoosened,
            _ => Kind::Limit,
        };
        self.value(here, kind, old, new);
    }

    /// The values of an open list, each with whether the same request may succeed later.
    pub(super) fn codes(&mut self, here: &Here, old: Option<&Value>, new: Option<&Value>) {
        for (code, old, new) in members(old, new) {
            let lists = members(old, new);
            let name = || Some(Told::text(code));
            if lists.iter().any(|(_, old, new)| old.is_some() && new.is_none()) {
                self.say(here, Kind::CodeRemoved, name(), None);
            } else if lists.iter().any(|(_, old, new)| old.is_none() && new.is_some()) {
                self.say(here, Kind::CodeAdded, None, name());
            } else if old != new {
                let was_retryable = old.is_some_and(|old| old["retryable"] == true);
                let kind = if was_retryable { Kind::NoLongerRetryable } else { Kind::Retryable };
                let told = |value: &Value| {
                    Told::text(code).and(", retryable: ").and(&value["retryable"].to_string())
                };
                self.say(here, kind, old.map(told), new.map(told));
            }
        }
    }
}

/// What changed about the type and the format; nothing if both are the same.
pub fn types(old: &Value, new: &Value) -> Option<Kind> {
    let text = |schema: &Value, name: &str| schema.get(name).map(|value| Told::of(value).whole);
    let [old_type, new_type] = [old, new].map(|schema| text(schema, "type"));
    if old_type != new_type {
        return Some(match (old_type.as_deref(), new_type.as_deref()) {
            (None, _) | (Some("number"), Some("integer")) => Kind::TypeNarrowed,
            (_, None) | (Some("integer"), Some("number")) => Kind::TypeWidened,
            _ => Kind::Type,
        });
    }
    let [old, new] = [old, new].map(|schema| text(schema, "format"));
    match (old.as_deref(), new.as_deref()) {
        (old, new) if old == new => None,
        (None, _) => Some(Kind::TypeNarrowed),
        (_, None) => Some(Kind::TypeWidened),
        (Some(old), Some(new)) if has_all(new, old) => Some(Kind::TypeWidened),
        (Some(old), Some(new)) if has_all(old, new) => Some(Kind::TypeNarrowed),
        _ => Some(Kind::Format),
    }
}

/// Formats in rows: each has all values of those before it in its row. `int` and `uint` have 32 or
/// 64 bits.
const WIDER: [&[&str]; 8] = [
    &["int8", "int16", "int32", "int", "int64"],
    &["uint8", "int16", "int32", "int", "int64"],
    &["uint8", "uint16", "int32", "int", "int64"],
    &["uint8", "uint16", "uint32", "int64"],
    &["uint8", "uint16", "uint32", "uint", "uint64", "uint128"],
    &["float", "double"],
    &["ipv4", "ip"],
    &["ipv6", "ip"],
];

/// Whether a format has every value of another one.
fn has_all(format: &str, other: &str) -> bool {
    let place = |row: &[&str], format: &str| row.iter().position(|one| *one == format);
    WIDER.iter().any(|row| match (place(row, other), place(row, format)) {
        (Some(other), Some(format)) => other < format,
        _ => false,
    })
}
