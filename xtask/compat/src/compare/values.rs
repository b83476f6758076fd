//! Compares types, formats, enumerations, limits, the values of open enumerations, and extras.

use std::cmp::Ordering::Greater;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Comparison;
use super::graph::Spot;
use crate::keyword::allows;
use crate::kind::Kind;
use crate::model::{Codes, Extra, Extras, Schema, Text};

/// The limits of a schema, by keyword.
type Limits = BTreeMap<&'static str, Text>;

impl Comparison<'_> {
    /// Compares two enumerations.
    pub(super) fn enumeration(
        &mut self,
        at: &Spot,
        old: Option<&BTreeSet<String>>,
        new: Option<&BTreeSet<String>>,
    ) {
        let (Some(old), Some(new)) = (old, new) else {
            let kind = if new.is_some() { Kind::TypeNarrowed } else { Kind::TypeWidened };
            let [old, new] = [old, new].map(|list| {
                let list: Vec<&str> = list?.iter().map(String::as_str).collect();
                Some(format!("[{}]", list.join(",")))
            });
            if old.is_some() || new.is_some() {
                self.report(at, kind, old.as_deref(), new.as_deref());
            }
            return;
        };
        let joined = |values: BTreeSet<String>| Vec::from_iter(values).join(", ");
        if !old.is_subset(new) {
            self.report(at, Kind::ValuesRemoved, Some(&joined(old - new)), None);
        }
        if !new.is_subset(old) {
            self.report(at, Kind::ValuesAdded, None, Some(&joined(new - old)));
        }
    }

    /// Compares `maximum`, `maxLength`, `pattern` and so on.
    pub(super) fn limits(&mut self, at: &Spot, old: &Limits, new: &Limits) {
        for name in old.keys().chain(new.keys()).copied().collect::<BTreeSet<_>>() {
            let (was, is) = (old.get(name), new.get(name));
            let kind = match (was, is) {
                (was, is) if was == is => continue,
                (None, _) => Kind::LimitTightened,
                (_, None) => Kind::LimitLoosened,
                (Some(was), Some(is)) => match allows(name, is, was) {
                    Some(Greater) => Kind::LimitLoosened,
                    Some(_) => Kind::LimitTightened,
                    None => Kind::Limit,
                },
            };
            let at = at.below(name);
            self.json(&at, kind, was, is);
        }
    }

    /// Compares the values of `x-extensible-enum` and `x-error-codes`, and their `retryable`.
    pub(super) fn codes(&mut self, at: &Spot, old: &Codes, new: &Codes) {
        for key in old.keys().chain(new.keys()).collect::<BTreeSet<_>>() {
            let (_, code) = key;
            match (old.get(key), new.get(key)) {
                (Some(_), None) => self.report(at, Kind::ValuesRemoved, Some(code), None),
                (None, Some(_)) => self.report(at, Kind::CodeAdded, None, Some(code)),
                (Some(was), Some(is)) if was != is => {
                    let is_lost = &**was == "true";
                    let kind = if is_lost { Kind::PromiseRemoved } else { Kind::PromiseAdded };
                    let [was, is] = [was, is].map(|one| format!("{code}, retryable: {one}"));
                    self.report(at, kind, Some(&was), Some(&is));
                }
                _ => {}
            }
        }
    }

    /// Compares the extras of two objects. Schemas to which both refer are queued.
    pub(super) fn extras(&mut self, at: &Spot, old: &Extras, new: &Extras) {
        for name in old.keys().chain(new.keys()).collect::<BTreeSet<_>>() {
            let at = at.below(name);
            let (was, is) = (old.get(name), new.get(name));
            let kind = match (was, is) {
                (Some(was), Some(is)) if was.changed != is.changed => Kind::Unknown,
                (Some(was), _) => was.changed,
                (None, is) => is.map_or(Kind::Unknown, |is| is.added),
            };
            let json = |extra: Option<&Extra>| extra.map(|extra| extra.json.clone());
            self.json(&at, kind, json(was).as_ref(), json(is).as_ref());
            let (Some(was), Some(is)) = (was, is) else { continue };
            for name in was.references.intersection(&is.references) {
                self.queue(&at, name, name);
                let [before, after] =
                    [self.old, self.new].map(|document| document.model.schemas.get(name));
                if kind == Kind::Limit && before != after {
                    // A type that allows more inside `not` allows less outside of it.
                    self.report(&at, kind, Some(name.short()), Some(name.short()));
                }
            }
        }
    }

    /// Compares two JSON values.
    pub(super) fn json(&mut self, at: &Spot, kind: Kind, old: Option<&Text>, new: Option<&Text>) {
        if old != new {
            let [old, new] = [old, new].map(|json| json.map(|json| unquoted(json)));
            self.report(at, kind, old.as_deref(), new.as_deref());
        }
    }
}

/// The content of a JSON string, or the JSON of another value.
fn unquoted(json: &str) -> String {
    match serde_json::from_str(json) {
        Ok(Value::String(text)) => text,
        _ => json.to_owned(),
    }
}

/// Compares type and format. `None` if both are the same.
pub fn types(old: &Schema, new: &Schema) -> Option<Kind> {
    if old.type_ != new.type_ {
        return Some(match (old.type_.as_deref(), new.type_.as_deref()) {
            (None, _) | (Some("number"), Some("integer")) => Kind::TypeNarrowed,
            (_, None) | (Some("integer"), Some("number")) => Kind::TypeWidened,
            _ => Kind::Type,
        });
    }
    match (old.format.as_deref(), new.format.as_deref()) {
        (old, new) if old == new => None,
        (None, _) => Some(Kind::TypeNarrowed),
        (_, None) => Some(Kind::TypeWidened),
        (Some(old), Some(new)) if includes(new, old) => Some(Kind::TypeWidened),
        (Some(old), Some(new)) if includes(old, new) => Some(Kind::TypeNarrowed),
        _ => Some(Kind::Type),
    }
}

/// Rows of formats. A format includes all values of the formats before it in the same row. `int`
/// and `uint` have 32 or 64 bits.
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

/// Whether a format includes all values of another format.
fn includes(format: &str, other: &str) -> bool {
    let place = |row: &[&str], format: &str| row.iter().position(|one| *one == format);
    WIDER.iter().any(|row| match (place(row, other), place(row, format)) {
        (Some(other), Some(format)) => other < format,
        _ => false,
    })
}
