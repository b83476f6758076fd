//! Reads the keywords of an object, and those that are compared as a whole, because they hardly
//! ever change, such as callbacks.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{LONGEST_CHAIN, Reader};
use crate::json::{Json, decoded, unified};
use crate::keyword::{Rule, keyword};
use crate::kind::Kind;
use crate::model::{Extra, Extras, Pointer, Text};

/// The keywords of an object that were not read yet, without those that have their default value.
#[derive(Default)]
pub struct Keywords<'t> {
    pub unread: BTreeMap<&'t str, Json<'t>>,
}

impl<'t> Keywords<'t> {
    pub fn of(object: &Json<'t>) -> Self {
        let entries = object.entries().filter(|(name, value)| {
            !keyword(name).map_or(value.is_null(), |keyword| keyword.is_default(value))
        });
        Self { unread: entries.collect() }
    }

    /// Removes a keyword and returns its value, if the value has the right type.
    pub fn take(&mut self, name: &str) -> Option<Json<'t>> {
        let fits = |value: &Json<'t>| keyword(name).is_none_or(|keyword| (keyword.fits)(value));
        if self.unread.get(name).is_some_and(fits) { self.unread.remove(name) } else { None }
    }

    pub fn take_text(&mut self, name: &str) -> Option<&'t str> {
        self.take(name)?.text()
    }

    pub fn take_flag(&mut self, name: &str) -> bool {
        self.take(name).is_some_and(|value| *value == true)
    }
}

impl<'t> Reader<'t> {
    /// Reads the remaining keywords of an object, and leaves out the text for people. `owner` is
    /// the kind of object.
    pub fn extras(&mut self, keywords: Keywords<'t>, owner: &str) -> Extras {
        let mut extras = Extras::new();
        for (name, value) in keywords.unread {
            let known =
                keyword(name).filter(|one| (one.fits)(&value) && one.applies_to(Some(owner)));
            let extra = match known.map(|keyword| keyword.rule) {
                Some(Rule::Words) => continue,
                Some(Rule::Whole { added, changed }) => self.whole(&value, added, changed),
                _ if name.starts_with("x-") => without_references(&value, Kind::Extension),
                _ => without_references(&value, Kind::Unknown),
            };
            extras.insert(name.into(), extra);
        }
        extras
    }

    /// A value without default values. References to schemas stay, and all other references are
    /// replaced by their targets.
    fn whole(&mut self, json: &Json<'t>, added: Kind, changed: Kind) -> Extra {
        let mut references = BTreeSet::new();
        let value = self.plain(json, &mut references, &mut Vec::new());
        for pointer in &references {
            self.referenced(pointer.clone());
        }
        Extra { json: value.to_string().into(), references, added, changed }
    }

    /// `open` are the references that are being followed.
    fn plain(
        &mut self,
        json: &Json<'t>,
        references: &mut BTreeSet<Pointer>,
        open: &mut Vec<String>,
    ) -> Value {
        self.copied_values += 1;
        if let Some(reference) = json.reference() {
            let pointer = decoded(reference);
            let is_inner = pointer.starts_with('#') && !pointer.starts_with(Pointer::SCHEMAS);
            if open.len() == LONGEST_CHAIN {
                self.copied_values = MOST_VALUES;
            }
            let follows = is_inner && self.copied_values < MOST_VALUES && !open.contains(&pointer);
            if let Some(target) = self.find(&pointer).filter(|_| follows) {
                open.push(pointer);
                let value = self.plain(&target, references, open);
                open.pop();
                return value;
            }
            if !is_inner {
                references.insert(Pointer::new(&pointer));
            }
            return Value::Object(Map::from_iter([("$ref".to_owned(), pointer.into())]));
        }
        if json.is_array() {
            let mut items: Vec<Value> =
                json.items().map(|item| self.plain(&item, references, open)).collect();
            // The order of a list means nothing in OpenAPI, except in a default value.
            if !items.iter().any(Value::is_number) {
                items.sort_by_cached_key(ToString::to_string);
            }
            return Value::Array(items);
        }
        if !json.is_object() {
            // The mapping of a discriminator has pointers to schemas.
            let pointer = json.text().filter(|text| text.starts_with(Pointer::SCHEMAS));
            references.extend(pointer.map(Pointer::new));
            return unified(json.value);
        }
        let left = Keywords::of(json).unread.into_iter();
        left.map(|(name, value)| (name.to_owned(), self.plain(&value, references, open))).collect()
    }
}

/// The limit of values that are copied from the targets of references. A hostile document could
/// double them with every reference.
pub const MOST_VALUES: usize = 1_000_000;

/// A value whose references are not followed.
pub fn without_references(json: &Json<'_>, kind: Kind) -> Extra {
    let json = json.to_string().into();
    Extra { json, references: BTreeSet::new(), added: kind, changed: kind }
}

/// The extras of an inner object, as extras of the object that contains it.
pub fn within(object: &str, extras: Extras) -> impl Iterator<Item = (Text, Extra)> {
    extras.into_iter().map(move |(name, extra)| (format!("{object} {name}").into(), extra))
}
