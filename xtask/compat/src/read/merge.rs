//! Merges `allOf` into a single schema, as far as a single schema can express it. Parts that cannot
//! be merged stay in [`Schema::all_of`].

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::mem::take;
use std::rc::Rc;

use super::Reader;
use crate::keyword::allows;
use crate::model::{
    AdditionalProperties, Alternatives, Annotations, Generated, Nullable, Origins, Pointer, Schema,
    Text, is_any,
};

/// The limit of properties that are copied from types into the types that have them in `allOf`.
const MOST_PROPERTIES: usize = 1_000_000;

/// The limit of types that have each other in `allOf`, one inside the other.
const DEEPEST_ALL_OF: usize = 20;

impl Reader<'_> {
    /// Adds `allOf`, `oneOf` and `anyOf` to the other keywords of a schema. `inner` is the place of
    /// an inline schema.
    pub fn composed(
        &mut self,
        mut schema: Schema,
        mut all_of: Vec<Rc<Schema>>,
        one_of: Vec<Rc<Schema>>,
        any_of: Vec<Rc<Schema>>,
        inner: Option<Pointer>,
    ) -> Schema {
        for (keyword, list) in [("oneOf", one_of), ("anyOf", any_of)] {
            if !list.is_empty() {
                add_alternatives(&mut schema, &mut all_of, keyword, list);
            }
        }
        if all_of.is_empty() { schema } else { self.merged(schema, all_of, inner) }
    }

    /// Merges the parts of `allOf` and the keywords beside it into one schema.
    fn merged(
        &mut self,
        schema: Schema,
        all_of: Vec<Rc<Schema>>,
        inner: Option<Pointer>,
    ) -> Schema {
        let title = schema.generated.title.clone();
        let (annotations, mut parts) = split(schema, all_of);
        if parts.len() < 2 {
            let mut only = Rc::unwrap_or_clone(parts.pop().unwrap_or_default());
            only.annotations = annotations.over(&only.annotations);
            only.generated.title = title.or(only.generated.title.take());
            return only;
        }
        if let Some(pointer) = inner
            && parts.iter().any(|part| part.pointer().is_some())
        {
            // The types may be recursive, so this schema is merged once, under its own pointer.
            let merged_at = Some(self.referenced(pointer));
            let generated = Generated { merged_at, title, origins: Origins::new() };
            return Schema { all_of: parts, annotations, generated, ..Schema::default() };
        }
        let mut origins = Origins::new();
        let mut resolved = Vec::new();
        let mut unmerged = Vec::new();
        for part in parts {
            let target = self.resolved_part(&part);
            for (origin, properties) in origins_of(&part, target.as_ref()) {
                origins.entry(origin).or_default().extend(properties);
            }
            match target {
                Some(target) => resolved.push(target),
                None => unmerged.push(part),
            }
        }
        let mut merged = intersection(resolved, unmerged);
        self.copied += merged.properties.len();
        merged.generated = Generated { merged_at: None, title, origins };
        merged.annotations = annotations.over(&merged.annotations);
        merged
    }

    /// Follows the references of a part of `allOf`. `None` if the part cannot be merged: the target
    /// does not exist, its `allOf` is recursive, or a limit is reached.
    fn resolved_part(&mut self, part: &Schema) -> Option<Schema> {
        let mut annotations = part.annotations.clone();
        let mut schema = part.clone();
        let mut is_reference = false;
        while let Some(pointer) = schema.pointer().cloned() {
            let is_read = self.model.schemas.contains_key(&pointer);
            let is_open = self.open.contains(&pointer) || self.open.len() >= DEEPEST_ALL_OF;
            let is_found = self.find(pointer.as_str()).is_some();
            if !is_found || self.copied > MOST_PROPERTIES || !is_read && is_open {
                return None;
            }
            let target = self.schema_at(&pointer);
            if target.pointer() == Some(&pointer) {
                return None;
            }
            is_reference = true;
            schema = (*target).clone();
            annotations = annotations.over(&schema.annotations);
        }
        if is_reference {
            // Extensions of the type do not apply to this schema.
            annotations.extras.clear();
            if let Some(discriminator) = &mut schema.discriminator {
                discriminator.is_own = false;
            }
        }
        Some(Schema { annotations, ..schema })
    }
}

/// Adds `oneOf` or `anyOf` to a schema. A list of one schema, and the second of two lists, become
/// parts of `allOf` instead.
fn add_alternatives(
    schema: &mut Schema,
    all_of: &mut Vec<Rc<Schema>>,
    keyword: &'static str,
    list: Vec<Rc<Schema>>,
) {
    let (mut list, allows_null) = with_merged_enumerations(list);
    if allows_null {
        schema.annotations.nullable = Nullable::Yes;
    }
    if list.len() == 1 && schema.discriminator.is_none() {
        all_of.append(&mut list);
        return;
    }
    let alternatives = Some(Box::new(Alternatives { keyword, list }));
    if schema.alternatives.is_some() {
        all_of.push(Rc::new(Schema { alternatives, ..Schema::default() }));
    } else {
        schema.alternatives = alternatives;
    }
}

/// Separates the annotations of a schema with `allOf` from the parts that limit values. The other
/// keywords beside `allOf` become one more part.
fn split(mut schema: Schema, all_of: Vec<Rc<Schema>>) -> (Annotations, Vec<Rc<Schema>>) {
    let mut annotations = take(&mut schema.annotations);
    schema.generated = Generated::default();
    let mut parts = Vec::new();
    if schema != Schema::default() {
        parts.push(Rc::new(schema));
    }
    for part in all_of {
        if is_any(&part) {
            annotations = annotations.over(&part.annotations);
        } else {
            parts.push(part);
        }
    }
    (annotations, sorted(parts))
}

/// Where the keywords of a part come from. `target` is the schema to which it refers.
fn origins_of(part: &Schema, target: Option<&Schema>) -> Origins {
    if !part.generated.origins.is_empty() {
        return part.generated.origins.clone();
    }
    let properties = target.into_iter().flat_map(|target| target.properties.keys().cloned());
    Origins::from([(part.type_name().cloned(), properties.collect())])
}

/// Merges parts of `allOf` into one schema. Its `all_of` gets `unmerged`, and what one schema
/// cannot express.
fn intersection(mut parts: Vec<Schema>, mut unmerged: Vec<Rc<Schema>>) -> Schema {
    // Null is valid if each part with a type allows it.
    let typed = || parts.iter().filter(|part| part.type_.is_some());
    let nulls = typed().chain(&parts).map(|part| part.annotations.nullable);
    let null = nulls.into_iter().find(|null| *null != Nullable::No);
    let null = null.filter(|_| typed().all(|part| part.annotations.nullable != Nullable::No));
    let mut merged = Schema::default();
    while let Some(mut part) = parts.pop() {
        // `additionalProperties` limits the properties of all other parts, but one schema would
        // apply it only to those that have no name in any part.
        let restricts = |part: &Schema| part.additional_properties != AdditionalProperties::Any;
        let has_properties = |part: &Schema| !part.properties.is_empty() || restricts(part);
        let is_apart = restricts(&part)
            && (has_properties(&merged)
                || parts.iter().any(has_properties)
                || !unmerged.is_empty());
        unmerged.append(&mut part.all_of);
        let rest = if is_apart { part } else { add(&mut merged, part) };
        if rest != Schema::default() {
            unmerged.push(Rc::new(rest));
        }
    }
    merged.annotations.nullable = null.unwrap_or_default();
    merged.all_of = sorted(unmerged);
    merged
}

/// Adds the keywords of a part to a schema. Returns a part with the keywords that the schema has
/// with another value, because one schema cannot have them twice.
fn add(merged: &mut Schema, part: Schema) -> Schema {
    let Schema {
        reference,
        type_,
        format,
        properties,
        required,
        additional_properties,
        items,
        enumeration,
        alternatives,
        discriminator,
        all_of: _,
        limits,
        others,
        annotations,
        generated: _,
    } = part;
    let mut rest = Schema::default();
    let is_number = |type_: &Option<Text>| matches!(type_.as_deref(), Some("integer" | "number"));
    if is_number(&merged.type_) && is_number(&type_) {
        // Of `integer` and `number`, the first one allows less.
        merged.type_ = merged.type_.take().min(type_);
    } else {
        put(&mut merged.type_, type_, &mut rest.type_);
    }
    put(&mut merged.reference, reference, &mut rest.reference);
    put(&mut merged.format, format, &mut rest.format);
    put(&mut merged.alternatives, alternatives, &mut rest.alternatives);
    put(&mut merged.discriminator, discriminator, &mut rest.discriminator);
    for (name, limit) in limits {
        let own = merged.limits.get(name).filter(|own| **own != limit);
        match own.map(|own| allows(name, own, &limit)) {
            None | Some(Some(Ordering::Greater)) => merged.limits.insert(name, limit),
            Some(None) => rest.limits.insert(name, limit),
            Some(Some(_)) => None,
        };
    }
    for (name, extra) in others {
        let has_another = merged.others.get(&name).is_some_and(|own| *own != extra);
        let target = if has_another { &mut rest } else { &mut *merged };
        target.others.insert(name, extra);
    }
    for (name, property) in properties {
        let property = match merged.properties.remove(&name) {
            Some(own) => both(own, property),
            None => property,
        };
        merged.properties.insert(name, property);
    }
    merged.required.extend(required);
    if additional_properties != AdditionalProperties::Any {
        merged.additional_properties = additional_properties;
    }
    merged.items = match (merged.items.take(), items) {
        (Some(own), Some(items)) => Some(both(own, items)),
        (own, items) => own.or(items),
    };
    merged.enumeration = match (merged.enumeration.take(), enumeration) {
        (Some(own), Some(values)) => Some(&own & &values),
        (own, values) => own.or(values),
    };
    if rest == Schema::default() {
        merged.annotations = take(&mut merged.annotations).over(&annotations);
    } else {
        rest.annotations = annotations;
    }
    rest
}

/// Puts a value into a keyword, or into the rest if the keyword has another value.
fn put<T: PartialEq>(keyword: &mut Option<T>, value: Option<T>, rest: &mut Option<T>) {
    if keyword.is_none() {
        *keyword = value;
    } else if value.is_some() && *keyword != value {
        *rest = value;
    }
}

/// Merges two schemas of one property, or of the items of one array. References are not resolved,
/// because the types may be recursive.
fn both(one: Rc<Schema>, other: Rc<Schema>) -> Rc<Schema> {
    if one == other {
        return one;
    }
    let schema = if one.pointer().or(other.pointer()).is_some() {
        Schema { all_of: sorted(vec![one, other]), ..Schema::default() }
    } else {
        intersection(vec![(*other).clone(), (*one).clone()], Vec::new())
    };
    Rc::new(schema)
}

/// Merges the enumerations of one type in `oneOf` or `anyOf` into one: generators write documented
/// values as an enumeration each. Removes null, and returns whether an alternative allowed it.
fn with_merged_enumerations(list: Vec<Rc<Schema>>) -> (Vec<Rc<Schema>>, bool) {
    let mut all: Vec<Rc<Schema>> = Vec::new();
    let mut enumerations: BTreeMap<Option<Text>, Schema> = BTreeMap::new();
    let mut allows_null = false;
    for mut schema in sorted(list) {
        let Some(values) = only_enumeration(&schema) else {
            allows_null |= *schema == Schema::default();
            if schema.annotations.nullable != Nullable::No {
                allows_null = true;
                Rc::make_mut(&mut schema).annotations.nullable = Nullable::No;
            }
            all.push(schema);
            continue;
        };
        allows_null |= schema.annotations.nullable == Nullable::Yes;
        if !values.is_empty() {
            let type_ = schema.type_.clone();
            let merged = enumerations
                .entry(type_.clone())
                .or_insert_with(|| Schema { type_, ..Schema::default() });
            merged.enumeration.get_or_insert_default().extend(values.iter().cloned());
        }
    }
    all.extend(enumerations.into_values().map(Rc::new));
    (sorted(all), allows_null)
}

/// The values of a schema that has only `enum`, `type` and `nullable`.
fn only_enumeration(schema: &Schema) -> Option<&BTreeSet<String>> {
    let values = schema.enumeration.as_ref()?;
    let (type_, enumeration) = (schema.type_.clone(), schema.enumeration.clone());
    let mut only = Schema { type_, enumeration, ..Schema::default() };
    only.annotations.nullable = schema.annotations.nullable;
    (only == *schema).then_some(values)
}

/// Sorts schemas by their keywords, because the order of a list means nothing, and removes
/// duplicates.
fn sorted(mut list: Vec<Rc<Schema>>) -> Vec<Rc<Schema>> {
    list.sort_by(|one, other| {
        // Own keywords come last, because the annotations of the last part take precedence.
        let all = other.pointer().is_some().cmp(&one.pointer().is_some());
        let all = all.then_with(|| one.cmp(other));
        let all = all.then_with(|| one.generated.origins.cmp(&other.generated.origins));
        all.then_with(|| one.generated.title.cmp(&other.generated.title))
    });
    list.dedup();
    list
}
