//! What changed about the values that a schema allows: types, formats, enumerations, bounds.

use std::collections::{BTreeMap, BTreeSet};

use super::{Comparison, Here, joined, told};
use crate::kind::Kind;
use crate::model::{Bound, Limits};

impl Comparison<'_> {
    pub(super) fn types(&mut self, here: Here<'_>, old: &Limits, new: &Limits) {
        if let Some(kind) = types(old, new) {
            let [old, new] = [old, new].map(type_name);
            self.say(here.below("type"), kind, old, new);
        }
    }

    pub(super) fn values(&mut self, here: Here<'_>, old: &Limits, new: &Limits) {
        let here = here.below("enum");
        let list = |values: &BTreeSet<String>| joined(values, ", ");
        match (&old.values, &new.values) {
            (None, None) => {}
            (None, Some(values)) => self.say(here, Kind::ListAdded, None, Some(list(values))),
            (Some(values), None) => self.say(here, Kind::ListRemoved, Some(list(values)), None),
            (Some(old), Some(new)) => {
                let gone: BTreeSet<String> = old.difference(new).cloned().collect();
                let came: BTreeSet<String> = new.difference(old).cloned().collect();
                let [gone, came] = [gone, came].map(|all| (!all.is_empty()).then(|| list(&all)));
                let kind = match (&gone, &came) {
                    (Some(_), Some(_)) => Kind::Values,
                    (Some(_), None) => Kind::ValuesRemoved,
                    _ => Kind::ValuesAdded,
                };
                self.value(here, kind, gone, came);
            }
        }
    }

    pub(super) fn bounds(&mut self, here: Here<'_>, old: &Limits, new: &Limits) {
        for &name in old.bounds.keys().chain(new.bounds.keys()).collect::<BTreeSet<_>>() {
            let [one, other] = [old, new].map(|limits| limits.bounds.get(name));
            let is_upper = name.starts_with("max");
            let looser = |old: &Bound, new: &Bound| {
                let grows =
                    if is_upper { new.number > old.number } else { new.number < old.number };
                grows || new.number.to_bits() == old.number.to_bits() && old.exclusive
            };
            let kind = match (one, other) {
                (Some(old), Some(new)) if !looser(old, new) => Kind::LimitTightened,
                (None, _) => Kind::LimitTightened,
                _ => Kind::LimitLoosened,
            };
            let [one, other] = [one, other].map(|bound| bound.map(told));
            self.value(here.below(name), kind, one, other);
        }
        for &name in old.rules.keys().chain(new.rules.keys()).collect::<BTreeSet<_>>() {
            let [one, other] = [old, new].map(|limits| limits.rules.get(name).cloned());
            let kind = match (&one, &other) {
                (None, _) => Kind::LimitTightened,
                (_, None) => Kind::LimitLoosened,
                _ => Kind::Limit,
            };
            self.value(here.below(name), kind, one, other);
        }
    }

    pub(super) fn codes(
        &mut self,
        here: Here<'_>,
        old: &BTreeMap<String, Option<bool>>,
        new: &BTreeMap<String, Option<bool>>,
    ) {
        for code in old.keys().chain(new.keys()).collect::<BTreeSet<_>>() {
            let (kind, old, new) = match (old.get(code), new.get(code)) {
                (None, _) => (Kind::CodeAdded, None, Some(code.clone())),
                (_, None) => (Kind::CodeRemoved, Some(code.clone()), None),
                (Some(old), Some(new)) if old == new => continue,
                (Some(old), Some(new)) => {
                    let lost = *old == Some(true);
                    let kind = if lost { Kind::NoLongerRetryable } else { Kind::Retryable };
                    let [old, new] =
                        [old, new].map(|one| one.map(|one| format!("retryable: {one}")));
                    (kind, old, new)
                }
            };
            self.say(here.below("codes").below(code), kind, old, new);
        }
    }
}

/// What changed about the type and the format; nothing if both are the same.
fn types(old: &Limits, new: &Limits) -> Option<Kind> {
    let by_format = || match (old.format.as_deref(), new.format.as_deref()) {
        (old, new) if old == new => None,
        (None, _) => Some(Kind::TypeNarrowed),
        (_, None) => Some(Kind::TypeWidened),
        (Some(old), Some(new)) => Some(match (range(old), range(new)) {
            (Some(old), Some(new)) if new.0 <= old.0 && old.1 <= new.1 => Kind::TypeWidened,
            (Some(old), Some(new)) if old.0 <= new.0 && new.1 <= old.1 => Kind::TypeNarrowed,
            _ => Kind::Type,
        }),
    };
    match (old.kind.as_deref(), new.kind.as_deref()) {
        (old, new) if old == new => by_format(),
        (None, _) | (Some("number"), Some("integer")) => Some(Kind::TypeNarrowed),
        (_, None) | (Some("integer"), Some("number")) => Some(Kind::TypeWidened),
        _ => Some(Kind::Type),
    }
}

/// The numbers of a format, as powers of two: those below zero and those above. A set of addresses
/// counts as one, too.
fn range(format: &str) -> Option<(i32, i32)> {
    Some(match format {
        "int8" => (-7, 7),
        "int16" => (-15, 15),
        "int32" => (-31, 31),
        "int64" | "int" => (-63, 63),
        "uint8" => (0, 8),
        "uint16" => (0, 16),
        "uint32" => (0, 32),
        "uint64" | "uint" => (0, 64),
        "uint128" => (0, 128),
        "float" => (-128, 128),
        "double" => (-1024, 1024),
        "ipv4" => (0, 1001),
        "ipv6" => (-1001, 0),
        "ip" => (-1001, 1001),
        _ => return None,
    })
}

fn type_name(limits: &Limits) -> Option<String> {
    let kind = limits.kind.clone()?;
    Some(limits.format.iter().fold(kind, |kind, format| format!("{kind} ({format})")))
}
