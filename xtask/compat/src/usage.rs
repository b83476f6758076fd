//! What a document uses: which of its parts are used by requests and which by responses, through
//! every `$ref`, and which security schemes and tags its operations have.
//!
//! If a discriminator names schemas, every part counts as unclear. Otherwise a part could seem to be
//! used by requests alone.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::place::{Place, is_word, members, target};

/// What uses a part of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// What a consumer sends.
    Request,
    /// What a consumer receives.
    Response,
    /// A callback, or a composition, whose parts limit each other. It is unclear what a change
    /// means there.
    Unclear,
}

/// What a document uses.
#[derive(Default)]
pub struct Usage {
    /// `None` is for a place outside of requests and responses.
    sides: BTreeMap<Place, BTreeSet<Option<Side>>>,
    schemes: BTreeSet<String>,
    tags: BTreeSet<String>,
    is_incomplete: bool,
}

impl Usage {
    /// Follows a document from its operations.
    pub fn of(document: &Value) -> Self {
        let mut usage = Self::default();
        for part in ["paths", "security"] {
            usage.follow(document, part);
        }
        usage
    }

    /// Whether this place is used on this side alone. If the document does not have it, its nearest
    /// ancestor counts.
    pub fn is_only(&self, side: Side, place: &Place) -> bool {
        !self.is_incomplete && self.sides(place) == BTreeSet::from([Some(side)])
    }

    /// Whether it is unclear what a change at this place means.
    pub fn is_unclear(&self, place: &Place) -> bool {
        self.is_incomplete || self.sides(place).contains(&Some(Side::Unclear))
    }

    pub fn has_scheme(&self, name: &str) -> bool {
        self.schemes.contains(name)
    }

    pub fn has_tag(&self, name: &str) -> bool {
        self.tags.contains(name)
    }

    fn sides(&self, place: &Place) -> BTreeSet<Option<Side>> {
        let mut place = Some(place.clone());
        while let Some(here) = place {
            if let Some(sides) = self.sides.get(&here) {
                return sides.clone();
            }
            place = here.parent();
        }
        BTreeSet::new()
    }

    /// Follows a value and all that it leads to, each place once for each side. The list of what is
    /// left replaces recursion: a chain of references may be as long as the document.
    fn follow(&mut self, document: &Value, part: &str) {
        let mut left = vec![(Place::root().step(part), &document[part], None)];
        while let Some((place, value, side)) = left.pop() {
            let side = side_of(&place, value, side);
            if !self.sides.entry(place.clone()).or_default().insert(side) {
                continue;
            }
            self.note(&place, value);
            if place.is_whole() {
                continue;
            }
            if let Some(reference) = value["$ref"].as_str() {
                // `Document` refuses a reference that is not followed.
                left.extend(target(document, reference).map(|(place, value)| (place, value, side)));
            }
            left.extend(
                members(value).into_iter().map(|(step, member)| (place.step(&step), member, side)),
            );
        }
    }

    fn note(&mut self, place: &Place, value: &Value) {
        match place.kinds().last().copied() {
            Some("security") => {
                self.schemes.extend(items(value).flat_map(|one| members(one).into_keys()));
            }
            Some("tags") => {
                self.tags.extend(items(value).filter_map(Value::as_str).map(str::to_owned));
            }
            // It names schemas without a `$ref`, so they are not followed.
            Some("discriminator") => self.is_incomplete = true,
            _ => {}
        }
    }
}

/// The side of a value. `side` is that of what leads to it.
fn side_of(place: &Place, value: &Value, side: Option<Side>) -> Option<Side> {
    match place.kinds().last().copied() {
        _ if side.is_some() && !place.has_names() && is_composition(value) => Some(Side::Unclear),
        _ if side.is_some() => side,
        Some("requestBody" | "parameters") => Some(Side::Request),
        Some("responses") => Some(Side::Response),
        Some("callbacks") => Some(Side::Unclear),
        _ => None,
    }
}

/// Whether a schema has parts that limit each other. An `allOf` of one part, with only words beside
/// it, is the same as that part: this is how OpenAPI 3.0 gives a reference a description.
fn is_composition(schema: &Value) -> bool {
    let is_one_part = schema["allOf"].as_array().is_some_and(|parts| parts.len() == 1)
        && members(schema)
            .keys()
            .all(|key| matches!(&key[..], "allOf" | "nullable" | "deprecated") || is_word(key));
    let composes = |key: &&str| schema.get(key).is_some();
    ["allOf", "anyOf", "oneOf", "not"].iter().any(composes) && !is_one_part
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}
