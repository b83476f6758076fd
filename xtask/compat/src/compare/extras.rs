//! Compares extensions, keywords that are compared as a whole, and unknown keywords.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Comparison;
use super::graph::Spot;
use crate::keyword::{Rule, keyword};
use crate::kind::Kind;
use crate::model::{Extras, ExtrasByObject, Text, Whole};

impl Comparison<'_> {
    /// Compares the extras of several objects, by the names of the objects.
    pub(super) fn extras_by_object(
        &mut self,
        at: &Spot,
        old: &ExtrasByObject,
        new: &ExtrasByObject,
    ) {
        for (name, old) in old {
            self.extras(&at.below(name), old, &new[name]);
        }
    }

    /// Compares the extras of two objects. Schemas to which both refer are queued.
    pub(super) fn extras(&mut self, at: &Spot, old: &Extras, new: &Extras) {
        let Extras { whole, unknown } = old;
        for name in whole.keys().chain(new.whole.keys()).collect::<BTreeSet<_>>() {
            let (was, is) = (whole.get(name), new.whole.get(name));
            let kind = match (keyword(name).map(|keyword| keyword.rule), was) {
                (Some(Rule::Whole { added, .. }), None) => added,
                (Some(Rule::Whole { changed, .. }), Some(_)) => changed,
                _ => Kind::Extension,
            };
            self.whole(&at.below(name), kind, was, is);
        }
        for name in unknown.keys().chain(new.unknown.keys()).collect::<BTreeSet<_>>() {
            let (was, is) = (unknown.get(name), new.unknown.get(name));
            self.whole(&at.below(name), Kind::Unknown, was, is);
        }
    }

    fn whole(&mut self, at: &Spot, kind: Kind, old: Option<&Whole>, new: Option<&Whole>) {
        let json = |whole: Option<&Whole>| Some(whole?.json.clone());
        self.json(at, kind, json(old).as_ref(), json(new).as_ref());
        let (Some(old), Some(new)) = (old, new) else {
            return;
        };
        let Whole { json: _, references } = old;
        for name in references.intersection(&new.references) {
            self.queue(at, name, name);
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
