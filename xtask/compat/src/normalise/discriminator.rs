//! Finds which type a value of a discriminator stands for (Discriminator Object).
//!
//! A mapping may say so. A type that no mapping names has the only value that it allows itself, or
//! else its name. Afterwards each reference that a discriminator chooses from has its [`VALUES`]:
//! the cases of `oneOf` and `anyOf`, or the [`CHILDREN`] of a schema, which are the types that have
//! the schema in their `allOf`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{AT, CHILDREN, Normaliser, Object, VALUES, pointer, target};
use crate::json::{entries, items, text};
use crate::pointer::{SCHEMAS, is_type, step};

/// The types that have another type in their `allOf`, by the pointer of the other type.
#[derive(Default)]
pub struct Children(BTreeMap<String, Vec<String>>);

impl Children {
    pub fn of(document: &Value) -> Self {
        let mut children = Self::default();
        for (name, schema) in entries(&document["components"]["schemas"]) {
            for parent in items(&schema["allOf"]).iter().filter_map(|part| part["$ref"].as_str()) {
                let all = children.0.entry(pointer(parent)).or_default();
                all.push(step(SCHEMAS, name));
            }
        }
        children
    }

    /// The descendants of a type.
    fn below(&self, parent: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut pending = vec![parent];
        while let Some(parent) = pending.pop() {
            for child in self.0.get(parent).into_iter().flatten() {
                if found.insert(child.clone()) {
                    pending.push(child);
                }
            }
        }
        found
    }
}

impl Normaliser<'_> {
    /// Normalises the discriminator of the schema at a place, and reads its mapping.
    pub fn discriminator(&mut self, discriminator: &Value, place: &str) -> Value {
        let at = step(place, "discriminator");
        if !self.mappings.contains_key(&at) {
            let mapping = self.mapping(discriminator);
            self.mappings.insert(at.clone(), mapping);
        }
        json!({ "propertyName": discriminator["propertyName"], AT: at })
    }

    /// Adds its values to each type that a discriminator chooses from.
    pub fn discriminate(&mut self, schema: &mut Object, place: &str) {
        let Some(mut discriminator) = schema.get("discriminator").cloned() else { return };
        let is_own = discriminator.get(AT).is_none();
        if is_own {
            discriminator = self.discriminator(&discriminator, place);
            schema.insert("discriminator".to_owned(), discriminator.clone());
        }
        let member = text(&discriminator["propertyName"]);
        let mapping = self.mappings.get(text(&discriminator[AT])).unwrap_or(&Value::Null);
        let values = |reference: &str| match &mapping[reference] {
            Value::Null => self.own_value(reference, member),
            values => values.clone(),
        };
        let mut has_cases = false;
        for name in ["oneOf", "anyOf"] {
            for part in schema.get_mut(name).and_then(Value::as_array_mut).into_iter().flatten() {
                has_cases = true;
                let named = part["$ref"].as_str().filter(|pointer| is_type(pointer));
                if let Some(values) = named.map(values) {
                    part[VALUES] = values;
                }
            }
        }
        // As a part of its children a schema does not stand for them, and no inline schema is a
        // child.
        if has_cases || self.parts.is_part(place) || !is_own && !is_type(place) {
            return;
        }
        let mut children = self.children.below(place);
        match is_own {
            true => children.extend(entries(mapping).map(|(name, _)| name.clone())),
            false => children.extend([place.to_owned()]),
        }
        let parts = children
            .iter()
            .map(|child| json!({ "$ref": child, VALUES: values(child), AT: place }))
            .collect();
        schema.insert(CHILDREN.to_owned(), parts);
        self.pending.extend(children.iter().filter(|child| child.starts_with('#')).cloned());
        self.model.referenced.extend(children);
    }

    /// Groups the values of a mapping by the pointer of their type.
    fn mapping(&self, discriminator: &Value) -> Value {
        let mut mapping = json!({});
        for (value, to) in entries(&discriminator["mapping"]) {
            let to = text(to);
            let named = step(SCHEMAS, to);
            let is_name = target(self.document, &named).is_ok_and(|found| found.is_some());
            let to = if is_name { named } else { pointer(to) };
            match &mut mapping[to] {
                Value::Array(values) => values.push(json!(value)),
                none => *none = json!([value]),
            }
        }
        mapping
    }

    /// The value of a type that no mapping names: the only one that the type allows, or its name.
    fn own_value(&self, reference: &str, member: &str) -> Value {
        let schema = target(self.document, reference).ok().flatten().unwrap_or(&Value::Null);
        for part in items(&schema["allOf"]).iter().chain([schema]) {
            if let [value] = items(&part["properties"][member]["enum"]) {
                return json!([value]);
            }
        }
        json!([reference.rsplit('/').next()])
    }
}
