//! Compares extensions, keywords that are compared as a whole, and unknown keywords.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Comparison;
use super::graph::Spot;
use crate::kind::Kind;
use crate::model::{Extra, Extras, Text};

impl Comparison<'_> {
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
