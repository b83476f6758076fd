//! What changed about the values that a schema allows: types, formats, enumerations, limits.

use std::cmp::Ordering::{Equal, Greater, Less};
use std::collections::BTreeSet;

use serde_json::Value;

use super::Comparison;
use super::cursor::Cursor;
use crate::change::Shown;
use crate::json::text;
use crate::kind::Kind;
use crate::normalise::number::{is_multiple, order};

impl Comparison<'_> {
    /// Compares two enumerations.
    pub(super) fn values(&mut self, at: &Cursor<'_>) {
        let (Some(Value::Array(old)), Some(Value::Array(new))) = (at.old, at.new) else {
            let kind = if at.new.is_some() { Kind::ListAdded } else { Kind::ListRemoved };
            return self.value(at, kind);
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
        self.report_text(at, kind, gone.as_deref(), came.as_deref());
    }

    pub(super) fn bound(&mut self, at: &Cursor<'_>, name: &str) {
        let number = |bound: &'_ Value| bound.get("exclusive").unwrap_or(bound).clone();
        let kind = match (at.old, at.new) {
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
        self.value(at, kind);
    }

    pub(super) fn multiple(&mut self, at: &Cursor<'_>) {
        match (at.old, at.new) {
            (Some(old), Some(new)) if is_multiple(new, old) => {
                self.value(at, Kind::LimitTightened);
            }
            (Some(old), Some(new)) if is_multiple(old, new) => self.value(at, Kind::LimitLoosened),
            _ => self.rule(at),
        }
    }

    /// Compares a limit of which nobody can tell which of two values allows more.
    pub(super) fn rule(&mut self, at: &Cursor<'_>) {
        let kind = match (at.old, at.new) {
            (None, _) => Kind::LimitTightened,
            (_, None) => Kind::LimitLoosened,
            _ => Kind::Limit,
        };
        self.value(at, kind);
    }

    /// Compares the values of an open list, each with whether the same request may succeed later.
    pub(super) fn codes(&mut self, at: &Cursor<'_>) {
        for (code, value) in at.members() {
            let lists: Vec<_> = value.members().map(|(_, list)| list).collect();
            if lists.iter().any(|list| list.new.is_none()) {
                self.report_text(at, Kind::CodeRemoved, Some(code), None);
            } else if lists.iter().any(|list| list.old.is_none()) {
                self.report_text(at, Kind::CodeAdded, None, Some(code));
            } else if value.old != value.new {
                let was_retryable = value.old.is_some_and(|old| old["retryable"] == true);
                let kind = if was_retryable { Kind::NoLongerRetryable } else { Kind::Retryable };
                let [old, new] = value.values().map(|value| {
                    let retryable = &value?["retryable"];
                    Some(Shown::text(&format!("{code}, retryable: {retryable}")))
                });
                self.report(at, kind, old, new);
            }
        }
    }
}

/// What changed about the type and the format; none if both are the same.
pub fn types(old: &Value, new: &Value) -> Option<Kind> {
    let [old_type, new_type] = [old, new].map(|schema| schema.get("type"));
    if old_type != new_type {
        return Some(match (old_type.map(text), new_type.map(text)) {
            (None, _) | (Some("number"), Some("integer")) => Kind::TypeNarrowed,
            (_, None) | (Some("integer"), Some("number")) => Kind::TypeWidened,
            _ => Kind::Type,
        });
    }
    match (old.get("format"), new.get("format")) {
        (old, new) if old == new => None,
        (None, _) => Some(Kind::TypeNarrowed),
        (_, None) => Some(Kind::TypeWidened),
        (Some(old), Some(new)) if includes(text(new), text(old)) => Some(Kind::TypeWidened),
        (Some(old), Some(new)) if includes(text(old), text(new)) => Some(Kind::TypeNarrowed),
        _ => Some(Kind::Format),
    }
}

/// Formats in rows: a format includes the values of those before it in its row. `int` and `uint`
/// have 32 or 64 bits.
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
fn includes(format: &str, other: &str) -> bool {
    let place = |row: &[&str], format: &str| row.iter().position(|one| *one == format);
    WIDER.iter().any(|row| match (place(row, other), place(row, format)) {
        (Some(other), Some(format)) => other < format,
        _ => false,
    })
}
