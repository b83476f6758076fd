//! The differences between two documents.
//!
//! The list is complete by construction: every value that is not equal is at the place of a
//! difference, or below it. The order of an object's members does not count, and the order of a
//! list whose items have names does not count either. A value in place means the same as one behind
//! a `$ref`. This module does not know what a difference means.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ptr;

use serde_json::{Map, Value};

use crate::kind::Kind;
use crate::members::members;
use crate::place::{Place, Within, is_prose};
use crate::reference::resolved;

/// One difference, at the innermost place that has it.
pub struct Difference<'a> {
    pub place: Place,
    /// The same place in the older document: behind a `$ref` it is another one.
    pub place_in_old: Place,
    /// The older value; none if it was added.
    pub old: Option<&'a Value>,
    /// The newer value; none if it was removed.
    pub new: Option<&'a Value>,
    /// Whether a schema only became the one part of this list, or was it: it means the same.
    pub is_wrapped: bool,
}

impl Difference<'_> {
    /// What happened at the place.
    pub fn kind(&self) -> Kind {
        match (self.old, self.new) {
            (None, _) => Kind::Added,
            (_, None) => Kind::Removed,
            _ => Kind::Changed,
        }
    }
}

/// Every difference between two documents.
pub fn differences<'a>(old: &'a Value, new: &'a Value) -> Vec<Difference<'a>> {
    let mut search =
        Search { documents: [old, new], same: HashSet::new(), compared: 0, found: Vec::new() };
    search.compare(&Place::default(), &Place::default(), Some(old), Some(new));
    search.found
}

/// How often values behind references are compared, and how many steps a place may have: a document
/// could ask for more than a machine has time and memory for.
const MOST_PAIRS: usize = 20_000;
const MOST_STEPS: usize = 400;

struct Search<'a> {
    documents: [&'a Value; 2],
    /// The pairs of values behind references, by their addresses, that are the same or are compared
    /// now.
    same: HashSet<[*const Value; 2]>,
    compared: usize,
    found: Vec<Difference<'a>>,
}

impl<'a> Search<'a> {
    /// Compares two values, and records each difference.
    fn compare(
        &mut self,
        place: &Place,
        place_in_old: &Place,
        old: Option<&'a Value>,
        new: Option<&'a Value>,
    ) {
        if old == new {
            return;
        }
        if let (Some(old), Some(new)) = (old, new)
            && !place.is_whole()
            && !place.has_names()
        {
            if self.compare_wrapped(place, place_in_old, old, new) {
                return;
            }
            if old.get("$ref") != new.get("$ref") {
                return self.compare_behind_refs(place, place_in_old, old, new);
            }
        }
        let has_parts = match (old, new) {
            (Some(Value::Object(_)), Some(Value::Object(_)))
            | (Some(Value::Array(_)), Some(Value::Array(_))) => true,
            (None, Some(Value::Object(_) | Value::Array(_)))
            | (Some(Value::Object(_) | Value::Array(_)), None) => place.is_collection(),
            _ => false,
        };
        if !has_parts || (place.is_whole() && place.within() != Within::Codes) {
            return self.record(place.clone(), place_in_old, old, new);
        }
        let by_name = |value: Option<&'a Value>| -> BTreeMap<_, _> {
            value.map(members).unwrap_or_default().into_iter().collect()
        };
        let old_members = by_name(old);
        let new_members = by_name(new);
        for name in old_members.keys().chain(new_members.keys()).collect::<BTreeSet<_>>() {
            let old_member = old_members.get(name).copied();
            let new_member = new_members.get(name).copied();
            if old_member != new_member {
                self.compare(&place.step(name), &place_in_old.step(name), old_member, new_member);
            }
        }
    }

    /// If one value is `allOf: [X]` (or `anyOf`, `oneOf`) and the other is X: records that,
    /// compares the texts beside it, and returns true.
    fn compare_wrapped(
        &mut self,
        place: &Place,
        place_in_old: &Place,
        old: &'a Value,
        new: &'a Value,
    ) -> bool {
        let Some(list) = list_around(old, new).or_else(|| list_around(new, old)) else {
            return false;
        };
        self.found.push(Difference {
            place: place.step(list),
            place_in_old: place_in_old.step(list),
            old: old.get(list),
            new: new.get(list),
            is_wrapped: true,
        });
        let names = [old, new].into_iter().filter_map(Value::as_object).flat_map(Map::keys);
        for prose in names.filter(|name| is_prose(name)).collect::<BTreeSet<_>>() {
            let old_text = old.get(prose);
            let new_text = new.get(prose);
            self.compare(&place.step(prose), &place_in_old.step(prose), old_text, new_text);
        }
        true
    }

    /// Compares what is behind different references. While a pair is compared, it counts as the
    /// same: so two schemas that refer to themselves can be.
    fn compare_behind_refs(
        &mut self,
        place: &Place,
        place_in_old: &Place,
        old: &'a Value,
        new: &'a Value,
    ) {
        let names = [old, new].map(|value| value.get("$ref"));
        let end_in_old = resolved(self.documents[0], place_in_old, old);
        let end_in_new = resolved(self.documents[1], place, new);
        let is_bounded = self.compared < MOST_PAIRS && place.len() < MOST_STEPS;
        let ends = end_in_old.zip(end_in_new).filter(|_| is_bounded);
        let Some(((place_of_end, old_end), (_, new_end))) = ends else {
            return self.record(place.clone(), place_in_old, Some(old), Some(new));
        };
        let pair = [ptr::from_ref(old_end), ptr::from_ref(new_end)];
        if !self.same.insert(pair) {
            return;
        }
        self.compared += 1;
        let before = self.found.len();
        self.compare(place, &place_of_end, Some(old_end), Some(new_end));
        if self.found.len() > before {
            // Each use is judged by itself.
            self.same.remove(&pair);
        }
        // The type of generated code has the name of the component.
        let is_schema = |name: &Value| {
            name.as_str().is_some_and(|name| name.starts_with("#/components/schemas/"))
        };
        if names.into_iter().flatten().any(is_schema) {
            self.record(place.step("$ref"), place_in_old, names[0], names[1]);
        }
    }

    fn record(
        &mut self,
        place: Place,
        place_in_old: &Place,
        old: Option<&'a Value>,
        new: Option<&'a Value>,
    ) {
        let place_in_old = place_in_old.clone();
        self.found.push(Difference { place, place_in_old, old, new, is_wrapped: false });
    }
}

/// The keyword of a list whose one part is this schema, if the other schema is that list with only
/// words beside it. This is how OpenAPI 3.0 gives a reference a description.
fn list_around<'a>(part: &Value, other: &'a Value) -> Option<&'a str> {
    let keywords = keywords(other)?;
    let (list @ ("allOf" | "anyOf" | "oneOf"), parts) = *keywords.first()? else { return None };
    let [only] = &parts.as_array()?[..] else { return None };
    let is_part = keywords.len() == 1 && self::keywords(only)? == self::keywords(part)?;
    is_part.then_some(list)
}

/// The members of a schema that are not only text for people.
fn keywords(schema: &Value) -> Option<Vec<(&str, &Value)>> {
    let members = schema.as_object()?.iter().map(|(name, member)| (name.as_str(), member));
    Some(members.filter(|(name, _)| !is_prose(name)).collect())
}
