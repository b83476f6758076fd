//! Finds the type that each value of a discriminator selects (Discriminator Object).
//!
//! A discriminator selects a schema of `oneOf` or `anyOf`, or else a child of its own schema, which
//! is a type that has the schema in its `allOf`. The values of a type are those in `mapping`, or
//! else the only value that its property allows, or else its name.

use std::collections::{BTreeMap, BTreeSet};

use super::{Reader, target};
use crate::change::escaped;
use crate::json::{Json, decoded, step};
use crate::model::{Discriminator, Pointer, Schema};

/// The children of each type: the types that have it in their `allOf`.
#[derive(Default)]
pub struct Children(BTreeMap<Pointer, Vec<Pointer>>);

impl Children {
    pub fn of(document: &Json<'_>) -> Self {
        let mut children = Self::default();
        let schemas = document.get("components").and_then(|components| components.get("schemas"));
        for (name, schema) in schemas.into_iter().flat_map(|one| one.entries()) {
            let parts = schema.get("allOf").into_iter().flat_map(|one| one.items());
            for parent in parts.filter_map(|one| one.reference()) {
                let all = children.0.entry(Pointer::new(&decoded(parent))).or_default();
                all.push(Pointer::new(&step(Pointer::SCHEMAS, name)));
            }
        }
        children
    }

    /// The descendants of a type.
    fn below(&self, parent: &Pointer) -> BTreeSet<Pointer> {
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

impl<'t> Reader<'t> {
    /// Reads a Discriminator Object, with the types in its `mapping`. They are names or pointers.
    pub fn discriminator(&mut self, json: &Json<'t>) -> Discriminator {
        let mut types = BTreeMap::new();
        for (value, target) in json.get("mapping").into_iter().flat_map(|one| one.entries()) {
            let target = target.text().unwrap_or_default();
            let named = step(Pointer::SCHEMAS, target);
            let is_name = self.find(&named).is_some();
            let target = if is_name { named.to_string() } else { decoded(target) };
            types.insert(escaped(value), Pointer::new(&target));
        }
        let property = json.text_of("propertyName").unwrap_or_default().into();
        Discriminator { property, types, is_own: true }
    }

    /// Adds the types that are not in the mapping: the alternatives of the schema, or else its
    /// children. A discriminator that is inherited selects the schema itself and its children.
    pub fn discriminate(&mut self, schema: &mut Schema, json: &Json<'t>, is_root: bool) {
        let Some(mut discriminator) = schema.discriminator.take() else {
            return;
        };
        let own = Pointer::new(&json.place);
        let children = self.children.below(&own);
        let types = &mut discriminator.types;
        if discriminator.is_own {
            let candidates = match &schema.alternatives {
                Some(all) => all.list.iter().filter_map(|one| one.type_name().cloned()).collect(),
                None => children,
            };
            let mapped: BTreeSet<Pointer> = types.values().cloned().collect();
            for type_ in candidates.difference(&mapped) {
                let value = self.own_value(type_, &discriminator.property);
                types.entry(value).or_insert_with(|| type_.clone());
            }
        } else {
            // An inline schema cannot be selected.
            types.retain(|_, type_| is_root && (*type_ == own || children.contains(type_)));
        }
        for type_ in types.values() {
            if type_.as_str().starts_with('#') {
                self.referenced(type_.clone());
            }
        }
        schema.discriminator = Some(discriminator);
    }

    /// The value of a type that is not in the mapping.
    fn own_value(&self, pointer: &Pointer, property: &str) -> String {
        let schema = target(&self.document, pointer.as_str()).ok().flatten();
        let parts = schema
            .clone()
            .and_then(|schema| schema.get("allOf"))
            .into_iter()
            .flat_map(|one| one.items());
        for part in parts.chain(schema) {
            let property = part.get("properties").and_then(|all| all.get(property));
            let values = property.and_then(|property| property.get("enum"));
            let values: Vec<_> = values.into_iter().flat_map(|one| one.items()).collect();
            if let [value] = &values[..] {
                return value.to_string();
            }
        }
        let name = pointer.as_str().rsplit('/').next().unwrap_or_default();
        escaped(name)
    }
}
