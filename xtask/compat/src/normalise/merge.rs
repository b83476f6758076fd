//! One schema in the place of parts: `allOf` is merged, as far as one schema can say the same.
//! What cannot be merged stays a part of `allOf`.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{
    AT, NAME, Normaliser, Object, PARTS, TEXTS, is_bound, is_note, is_unconstrained, meaning,
    number, over, set, target, written,
};
use crate::pointer::is_type;

/// So many schemas are read again as parts of others.
const MOST_PARTS: usize = 100_000;

/// So many types may be parts of each other, one within the other.
const DEEPEST_PART: usize = 20;

/// The types that are read as parts of others, the innermost one last, and how many were.
#[derive(Default)]
pub struct Parts {
    open: Vec<String>,
    read: usize,
}

impl Parts {
    /// Whether the schema of this pointer is read as a part alone.
    pub fn is_part(&self, pointer: &str) -> bool {
        self.open.last().is_some_and(|open| open == pointer)
    }
}

impl Normaliser<'_> {
    /// A schema whose parts have one spelling. A list of one part is that part.
    pub fn merged(&mut self, mut schema: Object, place: &str) -> Object {
        self.parts.read += usize::from(!self.parts.open.is_empty());
        let mut demands = match schema.remove("allOf") {
            Some(Value::Array(parts)) => parts,
            _ => Vec::new(),
        };
        let mut cases = Vec::new();
        let is_tagged = schema.contains_key("discriminator");
        for name in ["oneOf", "anyOf"] {
            let Some(Value::Array(parts)) = schema.remove(name) else { continue };
            let (mut parts, has_null) = alternatives(parts);
            if has_null {
                schema.insert("nullable".to_owned(), json!(true));
            }
            match parts.len() {
                1 if !is_tagged => demands.extend(parts.pop()),
                _ => cases.push((name, parts)),
            }
        }
        let mut cases = cases.into_iter();
        if let Some((name, parts)) = cases.next() {
            schema.insert(name.to_owned(), Value::Array(parts));
        }
        demands.extend(cases.map(|(name, parts)| json!({ name: parts, AT: place })));
        if demands.is_empty() { schema } else { self.demanded(demands, schema, place) }
    }

    /// A value has to fit all of these parts, and what stands beside them. Parts that say nothing
    /// are left out.
    fn demanded(&mut self, parts: Vec<Value>, siblings: Object, place: &str) -> Object {
        let (mut said, mut siblings): (Object, Object) =
            siblings.into_iter().partition(|(name, _)| is_note(name));
        if !siblings.is_empty() {
            siblings.insert(AT.to_owned(), json!(place));
        }
        let mut demands = Vec::new();
        for part in parts.into_iter().chain([Value::Object(siblings)]) {
            match part {
                Value::Object(part) if is_unconstrained(&part) => said = over(said, part),
                part => demands.push(part),
            }
        }
        let mut demands = sorted(demands);
        match demands.pop() {
            Some(Value::Object(only)) if demands.is_empty() => return over(said, only),
            last => demands.extend(last),
        }
        let is_within = self.parts.open.last().is_some_and(|open| open != place);
        if is_within && demands.iter().any(|part| part.get("$ref").is_some()) {
            // Types may contain each other without an end: it is merged once, at its own place.
            let mut reference = self.reference(place, place);
            reference.insert("allOf".to_owned(), Value::Array(demands));
            return over(said, reference);
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
        let mut all = intersection(whole, &mut rest);
        all.remove(NAME);
        all.insert(PARTS.to_owned(), json!(names));
        if !rest.is_empty() {
            all.insert("allOf".to_owned(), Value::Array(sorted(rest)));
        }
        over(said, all)
    }

    /// What a part says: for a reference what its type says, without the texts about the type.
    fn whole(&mut self, part: &Value) -> Option<Object> {
        let object = part.as_object()?;
        let Some(reference) = object.get("$ref").and_then(Value::as_str) else {
            return Some(object.clone());
        };
        let Parts { open, read } = &self.parts;
        let is_open = open.iter().any(|one| one == reference);
        if open.len() == DEEPEST_PART || *read > MOST_PARTS || is_open {
            return None;
        }
        let schema = target(self.document, reference).ok()??.as_object()?;
        // A mapping may be long, and each child has its own part of it.
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

/// The names of the types of which a schema is made: the empty one for what it says itself.
fn names(part: &Value) -> Vec<String> {
    let name = part["$ref"].as_str().filter(|pointer| is_type(pointer));
    let all = items(&part[PARTS]).iter().filter_map(Value::as_str).chain(name);
    let all: Vec<String> = all.map(str::to_owned).collect();
    if all.is_empty() { vec![String::new()] } else { all }
}

/// One schema for what all of these say. What cannot be said in it becomes part of the rest.
fn intersection(mut parts: Vec<Object>, rest: &mut Vec<Value>) -> Object {
    // Whether null fits, if a type is said at all.
    let typed = || parts.iter().filter(|part| part.contains_key("type"));
    let nullable = typed().chain(&parts).find_map(|part| part.get("nullable").cloned());
    let nullable = nullable.filter(|_| typed().all(|part| part.contains_key("nullable")));
    let mut all = Object::new();
    while let Some(part) = parts.pop() {
        // A closed object knows nothing of the members of the other parts.
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
                add(&mut all, &name, value, rest);
            }
        }
    }
    all.extend(nullable.map(|nullable| ("nullable".to_owned(), nullable)));
    all
}

/// Adds a keyword to a schema that may have it already.
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
            // In an order that does not follow from the parts.
            let mut both = [old, value];
            both.sort_by_cached_key(|one| meaning(one).to_string());
            let [first, second] = both;
            rest.push(json!({ name: second }));
            first
        }
    };
    all.insert(name.to_owned(), both);
}

/// What two schemas of one place say together. References stay: their types may contain this place.
fn both(one: Value, other: Value) -> Value {
    match (&one, &other) {
        (Value::Object(_), Value::Object(_)) if meaning(&one) == meaning(&other) => one,
        (Value::Object(a), Value::Object(b))
            if !a.contains_key("$ref") && !b.contains_key("$ref") =>
        {
            let mut rest = Vec::new();
            let mut all = intersection(vec![b.clone(), a.clone()], &mut rest);
            if !rest.is_empty() {
                all.insert("allOf".to_owned(), Value::Array(sorted(rest)));
            }
            Value::Object(all)
        }
        _ => json!({ "allOf": sorted(vec![one.clone(), other]), AT: one[AT] }),
    }
}

fn items(list: &Value) -> &[Value] {
    list.as_array().map(Vec::as_slice).unwrap_or_default()
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
            has_null |= part.as_object().is_some_and(|part| part.keys().all(|name| name == AT));
            // If null is one case, it is one of the list.
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
    let of_list = ["type", "enum", "nullable", "title", "description", AT, NAME];
    let is_list = part.keys().all(|name| of_list.contains(&name.as_str()));
    part.get("enum")?.as_array().filter(|_| is_list)
}

/// Parts in an order that does not follow from the list, each once, whatever their texts are.
fn sorted(mut parts: Vec<Value>) -> Vec<Value> {
    let mut known = BTreeSet::new();
    parts.sort_by_cached_key(|part| {
        (meaning(part).to_string(), written(part).to_string(), names(part))
    });
    parts.retain(|part| known.insert(meaning(part).to_string()));
    parts
}
