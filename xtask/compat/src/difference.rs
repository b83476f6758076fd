//! The differences between two documents.
//!
//! The list is complete by construction: every value that is not equal is at the place of a
//! difference, or below it. The order of an object's members does not count, and the order of a
//! list whose items have names does not count either. A value in place means the same as one behind a
//! `$ref`. This module does not know what a difference means.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ptr;

use serde_json::Value;

use crate::place::{Place, Within, members, resolved};

/// One difference, at the innermost place that has it.
pub struct Difference<'a> {
    pub place: Place,
    /// The same place in the older document: behind a `$ref` it is another one.
    pub at: Place,
    /// The older value; none if it was added.
    pub old: Option<&'a Value>,
    /// The newer value; none if it was removed.
    pub new: Option<&'a Value>,
}

impl Difference<'_> {
    /// What happened at the place, as `rules.md` calls it.
    pub fn kind(&self) -> &'static str {
        match (self.old, self.new) {
            (None, _) => "added",
            (_, None) => "removed",
            _ => "changed",
        }
    }
}

/// Every difference between two documents.
pub fn differences<'a>(old: &'a Value, new: &'a Value) -> Vec<Difference<'a>> {
    let (same, found) = (HashSet::new(), Vec::new());
    let mut search = Search { documents: [old, new], same, compared: 0, found };
    search.look(&Place::default(), &Place::default(), Some(old), Some(new));
    search.found
}

/// How often values behind references are compared, and how many steps a place may have: a document
/// could ask for more than a machine has time and memory for.
const MOST_PAIRS: usize = 20_000;
const MOST_STEPS: usize = 400;

struct Search<'a> {
    documents: [&'a Value; 2],
    /// The pairs of values behind references, by their addresses, that are the same or are compared now.
    same: HashSet<[*const Value; 2]>,
    compared: usize,
    found: Vec<Difference<'a>>,
}

impl<'a> Search<'a> {
    fn look(&mut self, place: &Place, at: &Place, old: Option<&'a Value>, new: Option<&'a Value>) {
        if old == new {
            return;
        }
        if let (Some(old), Some(new)) = (old, new)
            && old.get("$ref") != new.get("$ref")
            && !place.is_whole()
            && !place.has_names()
        {
            return self.look_behind(place, at, old, new);
        }
        let has_parts = match (old, new) {
            (Some(Value::Object(_)), Some(Value::Object(_)))
            | (Some(Value::Array(_)), Some(Value::Array(_))) => true,
            (None, Some(Value::Object(_) | Value::Array(_)))
            | (Some(Value::Object(_) | Value::Array(_)), None) => place.is_collection(),
            _ => false,
        };
        if !has_parts || (place.is_whole() && place.within() != Within::Codes) {
            return self.found(place.clone(), at, old, new);
        }
        let [old, new]: [BTreeMap<_, _>; 2] =
            [old, new].map(|value| value.map(members).unwrap_or_default().into_iter().collect());
        for name in old.keys().chain(new.keys()).collect::<BTreeSet<_>>() {
            let [old, new] = [&old, &new].map(|members| members.get(name).copied());
            if old != new {
                self.look(&place.step(name), &at.step(name), old, new);
            }
        }
    }

    /// Compares what is behind different references. While a pair is compared, it counts as the same:
    /// so two schemas that refer to themselves can be.
    fn look_behind(&mut self, place: &Place, at: &Place, old: &'a Value, new: &'a Value) {
        let names = [old, new].map(|value| value.get("$ref"));
        let ends =
            resolved(self.documents[0], at, old).zip(resolved(self.documents[1], place, new));
        let is_bounded = self.compared < MOST_PAIRS && place.len() < MOST_STEPS;
        let Some(((at_old, old_end), (_, new_end))) = ends.filter(|_| is_bounded) else {
            return self.found(place.clone(), at, Some(old), Some(new));
        };
        let pair = [ptr::from_ref(old_end), ptr::from_ref(new_end)];
        if !self.same.insert(pair) {
            return;
        }
        self.compared += 1;
        let before = self.found.len();
        self.look(place, &at_old, Some(old_end), Some(new_end));
        if self.found.len() > before {
            // Each use is judged by itself.
            self.same.remove(&pair);
        }
        // The type of generated code has the name of the component.
        let is_schema = |name: &Value| {
            name.as_str().is_some_and(|name| name.starts_with("#/components/schemas/"))
        };
        if names.into_iter().flatten().any(is_schema) {
            self.found(place.step("$ref"), at, names[0], names[1]);
        }
    }

    fn found(&mut self, place: Place, at: &Place, old: Option<&'a Value>, new: Option<&'a Value>) {
        self.found.push(Difference { place, at: at.clone(), old, new });
    }
}
