//! One spelling for lists of parts: `oneOf`, `anyOf`, `allOf`.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Limits, Schema, Shape};

/// The parts of `oneOf` or `anyOf`. All enumerations among them are one part, as documented unit
/// variants are one enumeration. The part that is null alone is left out: the second value says
/// whether there was one.
pub fn alternatives(parts: Vec<Schema>) -> (Vec<Schema>, bool) {
    let mut others = Vec::new();
    let mut lists: BTreeMap<Option<String>, BTreeSet<String>> = BTreeMap::new();
    let mut has_null = false;
    for part in parts {
        let enumeration = part.limits().filter(|limits| is_enumeration(&part, limits));
        let Some(Limits { kind, values: Some(values), .. }) = enumeration else {
            if !others.contains(&part) {
                others.push(part);
            }
            continue;
        };
        has_null |= part.nullable;
        if !values.is_empty() {
            lists.entry(kind.clone()).or_default().extend(values.iter().cloned());
        }
    }
    let lists = lists.into_iter().map(|(kind, values)| {
        Schema::of(Limits { kind, values: Some(values), ..Limits::default() })
    });
    others.extend(lists);
    others.sort_by_cached_key(text);
    (others, has_null)
}

/// What the order of parts follows.
fn text(schema: &Schema) -> String {
    serde_json::to_string(schema).expect("a schema is JSON")
}

/// Whether a schema is a list of values and nothing else.
fn is_enumeration(schema: &Schema, limits: &Limits) -> bool {
    let values = limits.values.clone();
    let list = Limits { kind: limits.kind.clone(), values, ..Limits::default() };
    let plain = Schema { title: None, nullable: false, ..schema.clone() };
    limits.values.is_some() && plain == Schema::of(list)
}

/// A value has to fit all of these parts, and these limits. Parts that say nothing are left out, and
/// objects that share no member are one object.
pub fn demands(parts: Vec<Schema>, siblings: Limits) -> Schema {
    let mut flat: Vec<Schema> = Vec::new();
    let mut object: Option<Limits> = None;
    let mut pending = parts;
    pending.push(Schema::of(siblings));
    let mut nullable = false;
    for part in pending {
        nullable |= part.nullable;
        let Some(limits) = part.limits() else {
            if !flat.contains(&part) {
                flat.push(part);
            }
            continue;
        };
        flat.extend(limits.all_of.iter().cloned());
        let own = Limits { all_of: Vec::new(), ..limits.clone() };
        if own == Limits::default() {
            continue;
        }
        match &mut object {
            Some(object) if is_object(&own) && disjoint(object, &own) => {
                object.members.extend(own.members);
                object.required.extend(own.required);
            }
            None if is_object(&own) => object = Some(own),
            _ => {
                let part = Schema { shape: Shape::Limits(Box::new(own)), ..part };
                if !flat.contains(&part) {
                    flat.push(part);
                }
            }
        }
    }
    flat.extend(object.map(Schema::of));
    flat.sort_by_cached_key(text);
    flat.dedup();
    match <[Schema; 1]>::try_from(flat) {
        Ok([only]) => Schema { nullable: nullable || only.nullable, ..only },
        Err(all_of) => Schema { nullable, ..Schema::of(Limits { all_of, ..Limits::default() }) },
    }
}

/// Whether it says of a value only that it is an object, and which members it has.
fn is_object(limits: &Limits) -> bool {
    let Limits { kind, members, required, .. } = limits;
    let kind_is_object = kind.as_deref().is_none_or(|kind| kind == "object");
    let same = Limits {
        kind: kind.clone(),
        members: members.clone(),
        required: required.clone(),
        ..Limits::default()
    };
    kind_is_object && same == *limits
}

fn disjoint(one: &Limits, other: &Limits) -> bool {
    other.members.iter().all(|(name, member)| one.members.get(name).is_none_or(|own| own == member))
}
