//! One spelling for lists of parts: `oneOf`, `anyOf`, `allOf`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{Object, set};

/// What a schema says beside the values that it allows. `nullable` is such a keyword, as a type
/// that is used in two places may be nullable in one.
pub const NOTES: [&str; 9] = [
    "default",
    "deprecated",
    "description",
    "example",
    "externalDocs",
    "nullable",
    "readOnly",
    "title",
    "writeOnly",
];

/// A schema whose parts have one spelling. A list of one part is that part.
pub fn composed(mut schema: Object) -> Object {
    let mut demands = match schema.remove("allOf") {
        Some(Value::Array(parts)) => parts,
        _ => Vec::new(),
    };
    let mut cases = Vec::new();
    for name in ["oneOf", "anyOf"] {
        let Some(Value::Array(parts)) = schema.remove(name) else { continue };
        let (mut parts, has_null) = alternatives(parts);
        if has_null {
            schema.insert("nullable".to_owned(), json!(true));
        }
        match parts.len() {
            1 => demands.extend(parts.pop()),
            _ => cases.push((name, parts)),
        }
    }
    let mut cases = cases.into_iter();
    if let Some((name, parts)) = cases.next() {
        schema.insert(name.to_owned(), Value::Array(parts));
    }
    demands.extend(cases.map(|(name, parts)| json!({ name: parts })));
    if demands.is_empty() { schema } else { demanded(demands, schema) }
}

/// The parts of `oneOf` or `anyOf`. All enumerations among them are one part, as documented unit
/// variants are one enumeration. The part that is null alone is left out: the second value says
/// whether there was one.
fn alternatives(parts: Vec<Value>) -> (Vec<Value>, bool) {
    let mut others: Vec<Value> = Vec::new();
    let mut lists: BTreeMap<String, (Object, Vec<Value>)> = BTreeMap::new();
    let mut has_null = false;
    for mut part in sorted(parts) {
        let Some(values) = enumeration(&part) else {
            has_null |= part == json!({});
            // If null is one case, it is one of the list.
            has_null |= part.as_object_mut().is_some_and(|part| part.remove("nullable").is_some());
            others.push(part);
            continue;
        };
        has_null |= part.get("nullable").is_some();
        if !values.is_empty() {
            let kind = part["type"].to_string();
            let (list, all) = lists.entry(kind).or_default();
            all.extend(values.iter().cloned());
            if let Some(kind) = part.get("type") {
                list.insert("type".to_owned(), kind.clone());
            }
            // The texts of all of them: if one changes, this changes.
            if let Some(text) = part.get("description") {
                let texts = list.entry("description").or_insert_with(|| json!([]));
                texts.as_array_mut().expect("a list").push(text.clone());
            }
        }
    }
    for (mut list, values) in lists.into_values() {
        list.insert("enum".to_owned(), set(Value::Array(values)));
        others.push(Value::Object(list));
    }
    (sorted(others), has_null)
}

/// The values of a schema that is a list of values and nothing else.
fn enumeration(part: &Value) -> Option<&Vec<Value>> {
    let part = part.as_object()?;
    let of_list = ["type", "enum", "nullable", "title", "description"];
    let is_list = part.keys().all(|name| of_list.contains(&name.as_str()));
    part.get("enum")?.as_array().filter(|_| is_list)
}

/// A value has to fit all of these parts, and what stands beside them. Parts that say nothing are
/// left out.
fn demanded(parts: Vec<Value>, siblings: Object) -> Object {
    let (notes, siblings): (Object, Object) =
        siblings.into_iter().partition(|(name, _)| is_note(name));
    let mut demands = Vec::new();
    let mut said = notes;
    for part in sorted(parts).into_iter().chain([Value::Object(siblings)]) {
        let Value::Object(mut part) = part else {
            demands.push(part);
            continue;
        };
        if let Some(Value::Array(inner)) = part.remove("allOf") {
            demands.extend(inner);
        }
        if part.keys().all(|name| is_note(name)) {
            said = over(said, part);
            continue;
        }
        demands.push(Value::Object(part));
    }
    let mut demands = sorted(demands);
    if !demands.is_empty() && demands.iter().all(|part| part.get("nullable").is_some()) {
        said.insert("nullable".to_owned(), json!(true));
        for part in demands.iter_mut().filter_map(Value::as_object_mut) {
            part.remove("nullable");
        }
    }
    match demands.pop() {
        Some(Value::Object(only)) if demands.is_empty() => over(said, only),
        last => {
            demands.extend(last);
            said.insert("allOf".to_owned(), Value::Array(demands));
            said
        }
    }
}

/// A schema with what the one around it says beside it.
pub fn over(outer: Object, inner: Object) -> Object {
    let mut both = inner;
    both.extend(outer);
    both
}

/// Whether a keyword says nothing about the values.
pub fn is_note(name: &str) -> bool {
    NOTES.contains(&name) || name.starts_with("x-")
}

/// Parts in an order that does not follow from the list, each once, whatever their texts are.
fn sorted(mut parts: Vec<Value>) -> Vec<Value> {
    let mut known = BTreeSet::new();
    parts.sort_by_cached_key(|part| (meaning(part).to_string(), part.to_string()));
    parts.retain(|part| known.insert(meaning(part).to_string()));
    parts
}

/// The keywords of a schema that are text for people.
pub const TEXTS: [&str; 4] = ["description", "example", "externalDocs", "title"];

/// A schema without the texts for people.
pub fn meaning(schema: &Value) -> Value {
    match schema {
        Value::Object(keywords) => {
            let keywords = keywords.iter().filter(|(name, _)| !TEXTS.contains(&name.as_str()));
            let keywords = keywords.map(|(name, value)| {
                let value = match (name.as_str(), value) {
                    ("default" | "enum", _) => value.clone(),
                    ("properties", Value::Object(members)) => {
                        members.iter().map(|(name, one)| (name.clone(), meaning(one))).collect()
                    }
                    _ => meaning(value),
                };
                (name.clone(), value)
            });
            Value::Object(keywords.collect())
        }
        Value::Array(items) => items.iter().map(meaning).collect(),
        _ => schema.clone(),
    }
}
