//! Finds which type a value of a discriminator stands for (Discriminator Object).
//!
//! A mapping may say so. A type that no mapping names has the only value that it allows itself, or
//! else its name. Afterwards each reference that a discriminator chooses from has its values: the
//! cases of `oneOf` and `anyOf`, or the children of a schema, which are the types that have the
//! schema in their `allOf`.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::{Reader, target};
use crate::json::{Json, decoded, step};
use crate::model::{Aside, Case, Pointer, Schema, Tag};
use crate::text::escaped;

/// The values of a discriminator, by the type for which they stand.
pub type Mapping = BTreeMap<Pointer, BTreeSet<String>>;

/// The types that have another type in their `allOf`, by the other type.
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
                all.push(Pointer::new(&step(Pointer::TYPES, name)));
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
    /// Reads the discriminator of a schema, and its mapping.
    pub fn tag(&mut self, json: &Json<'t>) -> Tag {
        let place = json.place.clone();
        let at = json.place.to_string();
        if !self.mappings.contains_key(&at) {
            let mapping = self.mapping(json);
            self.mappings.insert(at, mapping);
        }
        let member = json.text_of("propertyName").unwrap_or_default().into();
        Tag { member, children: None, place: Aside(place), is_own: true }
    }

    /// Adds its values to each type that a discriminator chooses from.
    pub fn discriminate(&mut self, schema: &mut Schema, json: &Json<'t>, is_root: bool) {
        let Some(mut tag) = schema.tag.take() else { return };
        let none = Mapping::new();
        let mapping = self.mappings.get(&*tag.place.0).unwrap_or(&none);
        let values = |pointer: &Pointer| {
            mapping.get(pointer).cloned().unwrap_or_else(|| self.own_value(pointer, &tag.member))
        };
        if let Some(cases) = &mut schema.cases {
            for case in &mut cases.list {
                case.values = case.schema.type_name().map(values);
            }
            schema.tag = Some(tag);
            return;
        }
        let own = Pointer::new(&json.place);
        // No inline schema is a child.
        if tag.is_own || is_root && own.is_type() {
            let mut children = self.children.below(&own);
            match tag.is_own {
                true => children.extend(mapping.keys().cloned()),
                false => children.extend([own]),
            }
            let cases = children
                .iter()
                .map(|child| {
                    let schema =
                        Schema { to: Some(child.clone()), ..Schema::any(json.place.clone()) };
                    Case { schema: Rc::new(schema), values: Some(values(child)) }
                })
                .collect();
            tag.children = Some(cases);
            self.pending
                .extend(children.iter().filter(|one| one.as_str().starts_with('#')).cloned());
            self.model.referenced.extend(children);
        }
        schema.tag = Some(tag);
    }

    /// Groups the values of a mapping by the pointer of their type.
    fn mapping(&self, discriminator: &Json<'t>) -> Mapping {
        let mut mapping = Mapping::new();
        for (value, to) in discriminator.get("mapping").into_iter().flat_map(|one| one.entries()) {
            let to = to.text().unwrap_or_default();
            let named = step(Pointer::TYPES, to);
            let is_name = self.find(&named).is_some();
            let to = if is_name { named.to_string() } else { decoded(to) };
            mapping.entry(Pointer::new(&to)).or_default().insert(escaped(value));
        }
        mapping
    }

    /// The value of a type that no mapping names: the only one that the type allows, or its name.
    fn own_value(&self, pointer: &Pointer, member: &str) -> BTreeSet<String> {
        let schema = target(&self.document, pointer.as_str()).ok().flatten();
        let parts = schema
            .clone()
            .and_then(|schema| schema.get("allOf"))
            .into_iter()
            .flat_map(|one| one.items());
        for part in parts.chain(schema) {
            let member = part.get("properties").and_then(|members| members.get(member));
            let values = member.and_then(|member| member.get("enum"));
            let values: Vec<_> = values.into_iter().flat_map(|one| one.items()).collect();
            if let [value] = &values[..] {
                return BTreeSet::from([value.to_string()]);
            }
        }
        let name = pointer.as_str().rsplit('/').next().unwrap_or_default();
        BTreeSet::from([escaped(name)])
    }
}
