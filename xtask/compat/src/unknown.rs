//! What `openapiv3` does not keep of a document: keywords that this check does not know.
//!
//! The typed document is written back and compared with what was read. What is missing or another
//! value is unknown, unless it is a default that is written.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::normalise::{canonical, step};

/// Keywords with a value that means the same as their absence, and where OpenAPI 3.0.3 says so.
/// `null` stands for every keyword: some writers put it where there is no value.
pub const DEFAULTS: &[(&str, &str, &str)] = &[
    ("allowEmptyValue", "false", "Parameter Object"),
    ("allowReserved", "false", "Parameter Object"),
    ("callbacks", "{}", "Operation Object"),
    ("content", "{}", "Response Object"),
    ("deprecated", "false", "Operation Object"),
    ("encoding", "{}", "Media Type Object"),
    ("examples", "{}", "Media Type Object"),
    ("exclusiveMaximum", "false", "Schema Object"),
    ("exclusiveMinimum", "false", "Schema Object"),
    ("explode", "false", "Encoding Object"),
    ("headers", "{}", "Response Object"),
    ("links", "{}", "Response Object"),
    ("mapping", "{}", "Discriminator Object"),
    ("nullable", "false", "Schema Object"),
    ("parameters", "[]", "Operation Object"),
    ("properties", "{}", "Schema Object"),
    ("readOnly", "false", "Schema Object"),
    ("required", "[]", "Schema Object"),
    ("required", "false", "Parameter Object"),
    ("servers", "[]", "OpenAPI Object"),
    ("style", "\"form\"", "Parameter Object"),
    ("style", "\"simple\"", "Parameter Object"),
    ("tags", "[]", "OpenAPI Object"),
    ("uniqueItems", "false", "Schema Object"),
    ("variables", "{}", "Server Object"),
    ("writeOnly", "false", "Schema Object"),
];

/// The kinds of components: an empty map of one is as none.
const COMPONENTS: [&str; 9] = [
    "schemas",
    "responses",
    "parameters",
    "examples",
    "requestBodies",
    "headers",
    "securitySchemes",
    "links",
    "callbacks",
];

/// The unknown values by the place of the object that has them, and by their name. A place has `-`
/// in the place of each number, as the order of a list means nothing.
pub type Unknown = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// What the typed document has not kept.
pub fn unknown(read: &Value, written: &Value) -> Unknown {
    let mut found = Unknown::new();
    collect("#", read, written, &mut found);
    found
}

fn collect(place: &str, read: &Value, written: &Value, found: &mut Unknown) {
    match (read, written) {
        // What stands beside a reference is ignored (Reference Object).
        (Value::Object(read), Value::Object(_)) if read.contains_key("$ref") => {}
        (Value::Object(read), Value::Object(written)) => {
            for (name, value) in read {
                match written.get(name) {
                    Some(kept) if value == kept => {}
                    Some(kept) if value.is_object() || value.is_array() => {
                        collect(&step(place, name), value, kept, found);
                    }
                    Some(kept) if same_number(value, kept) => {}
                    None if is_default(name, value) => {}
                    _ => {
                        let all = found.entry(place.to_owned()).or_default();
                        all.entry(name.clone()).or_default().insert(canonical(value));
                    }
                }
            }
        }
        (Value::Array(read), Value::Array(written)) if read.len() == written.len() => {
            for (value, kept) in read.iter().zip(written) {
                collect(&format!("{place}/-"), value, kept, found);
            }
        }
        (read, written) if same_number(read, written) => {}
        (read, _) => {
            let (parent, name) = place.rsplit_once('/').unwrap_or(("#", place));
            let all = found.entry(parent.to_owned()).or_default();
            all.entry(name.to_owned()).or_default().insert(canonical(read));
        }
    }
}

fn is_default(name: &str, value: &Value) -> bool {
    let is_empty_map = value.as_object().is_some_and(serde_json::Map::is_empty);
    let text = canonical(value);
    value.is_null()
        || COMPONENTS.contains(&name) && is_empty_map
        || DEFAULTS.iter().any(|(keyword, default, _)| *keyword == name && *default == text)
}

/// 1 and 1.0 are one number. A number that a float cannot hold is not.
fn same_number(read: &Value, written: &Value) -> bool {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match (read.as_f64(), written.as_f64()) {
        (Some(one), Some(other)) => one.to_bits() == other.to_bits() && one.abs() <= EXACT,
        _ => false,
    }
}

/// An unknown keyword that the two documents do not share.
pub struct Difference {
    pub place: String,
    pub old: Option<String>,
    pub new: Option<String>,
}

/// The unknown keywords in which two documents differ, in objects that both have.
pub fn differences(old: (&Unknown, &Value), new: (&Unknown, &Value)) -> Vec<Difference> {
    let places: BTreeSet<&String> = old.0.keys().chain(new.0.keys()).collect();
    let mut differences = Vec::new();
    for place in places {
        let steps: Vec<String> = place
            .split('/')
            .skip(1)
            .map(|step| step.replace("~1", "/").replace("~0", "~"))
            .collect();
        if !has(old.1, &steps) || !has(new.1, &steps) {
            continue;
        }
        let none = BTreeMap::new();
        let [old, new] = [old.0, new.0].map(|all| all.get(place).unwrap_or(&none));
        for name in old.keys().chain(new.keys()).collect::<BTreeSet<_>>() {
            let text = |all: &BTreeMap<String, BTreeSet<String>>| {
                let values = all.get(name)?;
                Some(values.iter().map(String::as_str).collect::<Vec<_>>().join(", "))
            };
            let [old, new] = [old, new].map(text);
            if old != new {
                differences.push(Difference { place: step(place, name), old, new });
            }
        }
    }
    differences
}

/// Whether a document has such a place, in any item of its lists.
fn has(value: &Value, steps: &[String]) -> bool {
    match (steps, value) {
        ([], _) => true,
        ([_, rest @ ..], Value::Array(items)) => items.iter().any(|item| has(item, rest)),
        ([name, rest @ ..], _) => value.get(name).is_some_and(|member| has(member, rest)),
    }
}
