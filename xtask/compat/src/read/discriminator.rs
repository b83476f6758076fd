//! Finds the values of a discriminator that select each schema (Discriminator Object).
//!
//! A discriminator selects a schema of `oneOf` or `anyOf`, or else a child of its own schema, which
//! is a type that has the schema in its `allOf`. The values of a schema are those in `mapping`, or
//! else the only value that its property allows, or else its name.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::{Reader, target};
use crate::json::{Json, decoded, step};
use crate::model::{Alternative, Discriminator, Mapping, Pointer, Schema};
use crate::text::escaped;

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
    /// Reads a Discriminator Object.
    pub fn discriminator(&mut self, json: &Json<'t>) -> Discriminator {
        Discriminator {
            property: json.text_of("propertyName").unwrap_or_default().into(),
            mapping: Rc::new(self.mapping(json)),
            children: None,
            is_own: true,
        }
    }

    /// Sets the discriminator values of the alternatives of a schema, or else of its children.
    pub fn discriminate(&mut self, schema: &mut Schema, json: &Json<'t>, is_root: bool) {
        let Some(mut discriminator) = schema.discriminator.take() else { return };
        let mapping = discriminator.mapping.clone();
        let values = |pointer: &Pointer| {
            let own_value = || self.own_value(pointer, &discriminator.property);
            mapping.get(pointer).cloned().unwrap_or_else(own_value)
        };
        if let Some(alternatives) = &mut schema.alternatives {
            for one in &mut alternatives.list {
                one.values = one.schema.type_name().map(values);
            }
            schema.discriminator = Some(discriminator);
            return;
        }
        let own = Pointer::new(&json.place);
        // An inline schema that inherits a discriminator cannot be selected.
        if discriminator.is_own || is_root && own.is_component() {
            let mut children = self.children.below(&own);
            if discriminator.is_own {
                children.extend(mapping.keys().cloned());
            } else {
                children.extend([own]);
            }
            let alternatives = children
                .iter()
                .map(|child| {
                    let reference = Some(child.clone());
                    let schema = Schema { reference, ..Schema::default() };
                    Alternative { schema: Rc::new(schema), values: Some(values(child)) }
                })
                .collect();
            discriminator.children = Some(alternatives);
            self.pending
                .extend(children.iter().filter(|one| one.as_str().starts_with('#')).cloned());
            self.model.referenced.extend(children);
        }
        schema.discriminator = Some(discriminator);
    }

    /// Reads `mapping`. Its values are names or pointers of schemas.
    fn mapping(&self, discriminator: &Json<'t>) -> Mapping {
        let mut mapping = Mapping::new();
        let entries = discriminator.get("mapping").into_iter().flat_map(|one| one.entries());
        for (value, target) in entries {
            let target = target.text().unwrap_or_default();
            let named = step(Pointer::SCHEMAS, target);
            let is_name = self.find(&named).is_some();
            let target = if is_name { named.to_string() } else { decoded(target) };
            mapping.entry(Pointer::new(&target)).or_default().insert(escaped(value));
        }
        mapping
    }

    /// The value of a schema that is not in the mapping.
    fn own_value(&self, pointer: &Pointer, property: &str) -> BTreeSet<String> {
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
                return BTreeSet::from([value.to_string()]);
            }
        }
        let name = pointer.as_str().rsplit('/').next().unwrap_or_default();
        BTreeSet::from([escaped(name)])
    }
}
