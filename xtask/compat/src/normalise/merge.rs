//! Merges `allOf` into one schema, as far as one schema can say the same. What cannot be merged
//! stays a part of `allOf`.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{
    AT, NAME, Normaliser, Object, PARTS, TEXTS, is_bound, is_note, is_one_of, is_unconstrained,
    meaning, number, over, set, target, written,
};
use crate::json::items;
use crate::pointer::is_type;

/// The number of schemas that are normalised again as parts of others.
const MOST_PARTS: usize = 100_000;

/// The number of types that may be nested as parts of each other.
const DEEPEST_PART: usize = 20;

/// The types that are being normalised as parts of others.
#[derive(Default)]
pub struct Parts {
    /// The innermost type is the last one.
    open: Vec<String>,
    /// The number of schemas that were normalised as parts so far.
    count: usize,
}

impl Parts {
    /// Whether the schema at this pointer is only being normalised as a part.
    pub fn is_part(&self, pointer: &str) -> bool {
        self.open.last().is_some_and(|open| open == pointer)
    }
}

impl Normaliser<'_> {
    /// Merges the parts of a schema. A list of one part becomes that part.
    pub fn merged(&mut self, mut schema: Object, place: &str) -> Object {
        self.parts.count += usize::from(!self.parts.open.is_empty());
        let mut demands = match schema.remove("allOf") {
            Some(Value::Array(parts)) => parts,
            _ => Vec::new(),
        };
        let is_tagged = schema.contains_key("discriminator");
        for name in ["oneOf", "anyOf"] {
            let Some(Value::Array(parts)) = schema.remove(name) else { continue };
            let (mut parts, has_null) = alternatives(parts);
            if has_null {
                schema.insert("nullable".to_owned(), json!(true));
            }
            if parts.len() == 1 && !is_tagged {
                demands.extend(parts.pop());
            } else if schema.contains_key("oneOf") {
                demands.push(json!({ name: parts, AT: place }));
            } else {
                schema.insert(name.to_owned(), Value::Array(parts));
            }
        }
        if demands.is_empty() { schema } else { self.demanded(demands, schema, place) }
    }

    /// Returns the schema of the values that fit all of these parts, and the keywords beside them.
    fn demanded(&mut self, parts: Vec<Value>, siblings: Object, place: &str) -> Object {
        let (mut notes, mut siblings): (Object, Object) =
            siblings.into_iter().partition(|(name, _)| is_note(name));
        if !siblings.is_empty() {
            siblings.insert(AT.to_owned(), json!(place));
        }
        let mut demands = Vec::new();
        for part in parts.into_iter().chain([Value::Object(siblings)]) {
            match part {
                Value::Object(part) if is_unconstrained(&part) => notes = over(notes, part),
                part => demands.push(part),
            }
        }
        let mut demands = sorted(demands);
        match demands.pop() {
            Some(Value::Object(only)) if demands.is_empty() => return over(notes, only),
            last => demands.extend(last),
        }
        let is_within = self.parts.open.last().is_some_and(|open| open != place);
        if is_within && demands.iter().any(|part| part.get("$ref").is_some()) {
            // Types may contain each other endlessly, so the schema is merged once, at its own
            // place.
            let mut reference = self.reference(place, place);
            reference.insert("allOf".to_owned(), Value::Array(demands));
            return over(notes, reference);
        }
        let names: BTreeSet<String> = demands.iter().flat_map(names).collect();
        let mut rest = Vec::new();
        let mut whole = Vec::new();
        for part in demands {
            match self.whole(&part) {
                Some(part) => whole.push(part),
                None => rest.push(part),
            }
        }
        let mut all = intersection(whole, rest);
        all.remove(NAME);
        all.insert(PARTS.to_owned(), json!(names));
        over(notes, all)
    }

    /// The keywords of a part. A reference has those of its type, without the texts about the type.
    fn whole(&mut self, part: &Value) -> Option<Object> {
        let object = part.as_object()?;
        let Some(reference) = object.get("$ref").and_then(Value::as_str) else {
            return Some(object.clone());
        };
        let Parts { open, count } = &self.parts;
        let is_open = open.iter().any(|one| one == reference);
        if open.len() == DEEPEST_PART || *count > MOST_PARTS || is_open {
            return None;
        }
        let schema = target(self.document, reference).ok()??.as_object()?;
        // A mapping may be long, and each child gets its own part of it.
        let parts = schema.iter().filter(|(name, _)| *name != "discriminator");
        let mut part: Object = parts.map(|(name, value)| (name.clone(), value.clone())).collect();
        if let Some(discriminator) = schema.get("discriminator").filter(|one| one.is_object()) {
            let discriminator = self.discriminator(discriminator, reference);
            part.insert("discriminator".to_owned(), discriminator);
        }
        self.parts.open.push(reference.to_owned());
        let schema = self.schema(Value::Object(part), reference);
        let whole = if schema.get("$ref").is_some() {
            self.whole(&schema)
        } else {
            schema.as_object().cloned()
        };
        self.parts.open.pop();
        let mut whole = whole?;
        whole.retain(|name, _| {
            let is_about_type = TEXTS.contains(&&name[..]) || name == "deprecated";
            !is_about_type && (!name.starts_with("x-") || name == "x-extensible-enum")
        });
        Some(whole)
    }
}

/// The names of the types that a schema is made of: the empty name for its own keywords.
fn names(part: &Value) -> Vec<String> {
    let name = part["$ref"].as_str().filter(|pointer| is_type(pointer));
    let all = items(&part[PARTS]).iter().filter_map(Value::as_str).chain(name);
    let all: Vec<String> = all.map(str::to_owned).collect();
    if all.is_empty() { vec![String::new()] } else { all }
}

/// Returns one schema that says the same as all parts. What one schema cannot say joins `rest`,
/// which becomes its `allOf`.
fn intersection(mut parts: Vec<Object>, mut rest: Vec<Value>) -> Object {
    // Null fits if each part with a type allows it.
    let typed = || parts.iter().filter(|part| part.contains_key("type"));
    let nullable = typed().chain(&parts).find_map(|part| part.get("nullable").cloned());
    let nullable = nullable.filter(|_| typed().all(|part| part.contains_key("nullable")));
    let mut all = Object::new();
    while let Some(part) = parts.pop() {
        // A closed object does not know the members of the other parts.
        let has_others = |part: &Object| part.contains_key("additionalProperties");
        let has_members = |part: &Object| part.contains_key("properties") || has_others(part);
        let is_apart = has_others(&part)
            && (has_members(&all)
                || parts.iter().any(has_members)
                || rest.iter().any(Value::is_object));
        if let Some(Value::Array(inner)) = part.get("allOf") {
            rest.extend(inner.iter().cloned());
        }
        if is_apart {
            rest.push(Value::Object(part));
            continue;
        }
        for (name, value) in part {
            if name != "nullable" && name != "allOf" {
                add(&mut all, &name, value, &mut rest);
            }
        }
    }
    all.extend(nullable.map(|nullable| ("nullable".to_owned(), nullable)));
    if !rest.is_empty() {
        all.insert("allOf".to_owned(), Value::Array(sorted(rest)));
    }
    all
}

/// Adds a keyword to a schema that may contain it already.
fn add(all: &mut Object, name: &str, value: Value, rest: &mut Vec<Value>) {
    let Some(old) = all.remove(name) else {
        all.insert(name.to_owned(), value);
        return;
    };
    let is_larger = number::order(&old, &value) == Some(Ordering::Greater);
    let both = match name {
        _ if is_note(name) || meaning(&old) == meaning(&value) => old,
        "required" => set(json!([items(&old), items(&value)].concat())),
        "enum" => items(&old).iter().filter(|one| items(&value).contains(one)).cloned().collect(),
        "type" if old == "number" && value == "integer" => value,
        "type" if old == "integer" && value == "number" => old,
        "multipleOf" if number::is_multiple(&old, &value) => old,
        "multipleOf" if number::is_multiple(&value, &old) => value,
        "items" => both(old, value),
        "properties" => {
            let mut members = old.as_object().cloned().unwrap_or_default();
            for (name, member) in value.as_object().into_iter().flatten() {
                let member = match members.remove(name) {
                    Some(old) => both(old, member.clone()),
                    None => member.clone(),
                };
                members.insert(name.clone(), member);
            }
            Value::Object(members)
        }
        _ if is_bound(name) && old.is_number() && value.is_number() => {
            if is_larger == name.starts_with("min") { old } else { value }
        }
        _ => {
            // The result must not depend on the order of the parts.
            let mut both = [old, value];
            both.sort_by_cached_key(|one| meaning(one).to_string());
            let [first, second] = both;
            rest.push(json!({ name: second }));
            first
        }
    };
    all.insert(name.to_owned(), both);
}

/// Merges two schemas of one place. References stay, because their types may contain this place.
fn both(one: Value, other: Value) -> Value {
    match (&one, &other) {
        (Value::Object(_), Value::Object(_)) if meaning(&one) == meaning(&other) => one,
        (Value::Object(a), Value::Object(b))
            if !a.contains_key("$ref") && !b.contains_key("$ref") =>
        {
            Value::Object(intersection(vec![b.clone(), a.clone()], Vec::new()))
        }
        _ => json!({ "allOf": sorted(vec![one.clone(), other]), AT: one[AT] }),
    }
}

/// Merges the enumerations among the parts of `oneOf` or `anyOf`: generators write the documented
/// values of one enumeration as parts. A part that only allows null is left out, and the second
/// value says whether there was one.
fn alternatives(parts: Vec<Value>) -> (Vec<Value>, bool) {
    let mut others: Vec<Value> = Vec::new();
    let mut lists: BTreeMap<String, (Object, Vec<Value>)> = BTreeMap::new();
    let mut has_null = false;
    for mut part in sorted(parts) {
        let Some(values) = enumeration(&part) else {
            has_null |= part.as_object().is_some_and(|part| part.keys().all(|name| name == AT));
            // A case that allows null makes the list allow it.
            has_null |= part.as_object_mut().is_some_and(|part| part.remove("nullable").is_some());
            others.push(part);
            continue;
        };
        has_null |= part.get("nullable").is_some_and(Value::is_boolean);
        if !values.is_empty() {
            let kind = part["type"].to_string();
            let (list, all) = lists.entry(kind).or_default();
            all.extend(values.iter().cloned());
            let same = ["type", AT].into_iter().filter_map(|name| Some((name, part.get(name)?)));
            list.extend(same.map(|(name, value)| (name.to_owned(), value.clone())));
            // The texts of all parts, so that a change of any is noticed.
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

/// The values of a schema that is an enumeration and nothing else.
fn enumeration(part: &Value) -> Option<&Vec<Value>> {
    let part = part.as_object()?;
    let is_list = part.keys().all(|name| {
        is_one_of(name, "type enum nullable title description") || [AT, NAME].contains(&&name[..])
    });
    part.get("enum")?.as_array().filter(|_| is_list)
}

/// Sorts parts by what they say, and removes those that differ only in their texts.
fn sorted(mut parts: Vec<Value>) -> Vec<Value> {
    let mut known = BTreeSet::new();
    parts.sort_by_cached_key(|part| {
        (meaning(part).to_string(), written(part).to_string(), names(part))
    });
    parts.retain(|part| known.insert(meaning(part).to_string()));
    parts
}
