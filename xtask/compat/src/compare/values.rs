//! What changed about the values that a schema allows: types, formats, enumerations, limits.

use std::cmp::Ordering::Greater;
use std::collections::{BTreeMap, BTreeSet};

use super::Comparison;
use super::graph::Spot;
use crate::change::Shown;
use crate::kind::Kind;
use crate::model::{Code, Limit, Schema};
use crate::read::allows;

/// The limits of a schema, by keyword.
type Limits = BTreeMap<&'static str, Limit>;

impl Comparison<'_> {
    /// Compares two enumerations.
    pub(super) fn values(
        &mut self,
        at: &Spot,
        old: Option<&BTreeSet<String>>,
        new: Option<&BTreeSet<String>>,
    ) {
        let (Some(old), Some(new)) = (old, new) else {
            let kind = if new.is_some() { Kind::ListAdded } else { Kind::ListRemoved };
            let [old, new] = [old, new].map(|list| {
                let list: Vec<&str> = list?.iter().map(String::as_str).collect();
                Some(Shown::json(&format!("[{}]", list.join(","))))
            });
            if old.is_some() || new.is_some() {
                self.report(at, kind, old, new);
            }
            return;
        };
        let [gone, came] = [old - new, new - old]
            .map(|only| (!only.is_empty()).then(|| Vec::from_iter(only).join(", ")));
        let kind = match (&gone, &came) {
            (None, None) => return,
            (Some(_), Some(_)) => Kind::Values,
            (Some(_), None) => Kind::ValuesRemoved,
            (None, Some(_)) => Kind::ValuesAdded,
        };
        self.report_text(at, kind, gone.as_deref(), came.as_deref());
    }

    /// Compares the limits of numbers, lengths and counts.
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
            let [was, is] = [was, is].map(|limit| Some(Shown::json(&limit?.json())));
            self.report(&at, kind, was, is);
        }
    }

    /// Compares the values of an open list, each with whether the same request may succeed later. A
    /// change is at the value, in the list that has it.
    pub(super) fn codes(
        &mut self,
        at: &Spot,
        old: &BTreeMap<String, Code>,
        new: &BTreeMap<String, Code>,
    ) {
        for code in old.keys().chain(new.keys()).collect::<BTreeSet<_>>() {
            let (was, is) = (old.get(code), new.get(code));
            let at = at.at(was.map(|was| was.place.0.clone()), is.map(|is| is.place.0.clone()));
            let none = Code::default();
            let (was, is) = (was.unwrap_or(&none), is.unwrap_or(&none));
            let Code { place: _, is_listed, row } = was;
            if *is_listed && !is.is_listed || row.is_some() && is.row.is_none() {
                self.report_text(&at, Kind::CodeRemoved, Some(code), None);
            } else if is_listed != &is.is_listed || row.is_some() != is.row.is_some() {
                self.report_text(&at, Kind::CodeAdded, None, Some(code));
            } else if *row != is.row {
                let is_lost = row.as_deref() == Some("true");
                let kind = if is_lost { Kind::NoLongerRetryable } else { Kind::Retryable };
                let [old, new] = [was, is].map(|one| {
                    format!("{code}, retryable: {}", one.row.as_deref().unwrap_or_default())
                });
                self.report_text(&at, kind, Some(&old), Some(&new));
            }
        }
    }
}

/// What changed about the type and the format; none if both are the same.
pub fn types(old: &Schema, new: &Schema) -> Option<Kind> {
    if old.kind != new.kind {
        return Some(match (old.kind.as_deref(), new.kind.as_deref()) {
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
