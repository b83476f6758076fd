//! One spelling for schemas.

use std::mem;

use serde_json::{Value, json};

use super::parts::{composed, is_note};
use super::{Normaliser, Object, set, without_defaults};

/// The limits of numbers, lengths and counts.
pub const BOUNDS: [&str; 8] = [
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
];

impl Normaliser<'_> {
    /// A schema or a reference to one. What is no schema stays as it is.
    pub fn schema(&mut self, schema: Value) -> Value {
        let Value::Object(schema) = schema else { return schema };
        if let Some(Value::String(pointer)) = schema.get("$ref") {
            if self.model.referenced.insert(pointer.clone()) {
                self.pending.push(pointer.clone());
            }
            return json!({ "$ref": pointer });
        }
        let mut schema = without_defaults(schema);
        set_aside(&mut schema);
        for name in ["items", "additionalProperties", "not", "oneOf", "anyOf", "allOf"] {
            schema.get_mut(name).into_iter().for_each(|value| self.within(value));
        }
        if let Some(Value::Object(members)) = schema.get_mut("properties") {
            members.values_mut().for_each(|member| self.within(member));
        }
        values(&mut schema);
        codes(&mut schema);
        bounds(&mut schema);
        // Without a type, members make it an object for each generator of clients.
        let by_members = [("properties", "object"), ("items", "array")];
        let kind = by_members.iter().find(|(name, _)| schema.contains_key(*name));
        if let (None, Some((_, kind))) = (schema.get("type"), kind) {
            schema.insert("type".to_owned(), json!(kind));
        }
        // Others of which nothing is said are any others.
        if schema.get("additionalProperties") == Some(&json!({})) {
            schema.remove("additionalProperties");
        }
        let mut schema = composed(schema);
        if schema.keys().all(|name| is_note(name)) {
            // Any value may be null.
            schema.remove("nullable");
        }
        Value::Object(schema)
    }

    fn within(&mut self, value: &mut Value) {
        match value {
            Value::Array(parts) => parts.iter_mut().for_each(|part| self.within(part)),
            _ => *value = self.schema(value.take()),
        }
    }
}

/// Gives a keyword with a value of a wrong type another name. So it is a keyword that nobody knows.
fn set_aside(schema: &mut Object) {
    for (name, value) in mem::take(schema) {
        let fits = match &name[..] {
            "items" | "not" | "properties" => value.is_object(),
            "allOf" | "anyOf" | "enum" | "oneOf" | "required" | "x-error-codes"
            | "x-extensible-enum" => value.is_array(),
            _ => true,
        };
        schema.insert(if fits { name } else { format!("{name} of a wrong type") }, value);
    }
}

/// The lists without an order. `null` is no value of its own.
fn values(schema: &mut Object) {
    let required = schema.remove("required");
    // Only objects have members.
    if schema.get("type").is_none_or(|kind| kind == "object") {
        schema.extend(required.map(|required| ("required".to_owned(), set(required))));
    }
    if let Some(Value::Array(mut values)) = schema.remove("enum") {
        if values.contains(&Value::Null) {
            schema.insert("nullable".to_owned(), json!(true));
            values.retain(|value| !value.is_null());
        }
        schema.insert("enum".to_owned(), set(Value::Array(values)));
    }
}

/// One map for `x-extensible-enum` and `x-error-codes`, the lists of the values that a client may
/// decide by: which of the lists has a value, and whether the same request may succeed later.
fn codes(schema: &mut Object) {
    let mut codes = json!({});
    if let Some(Value::Array(values)) = schema.remove("x-extensible-enum") {
        for value in values {
            codes[value.to_string()]["listed"] = json!(true);
        }
    }
    if let Some(Value::Array(rows)) = schema.remove("x-error-codes") {
        for row in rows {
            codes[row["error"].to_string()]["retryable"] = row["retryable"].clone();
        }
    }
    if codes != json!({}) {
        schema.insert("x-extensible-enum".to_owned(), codes);
    }
}

/// A bound and whether it is exclusive become one keyword. The next number of an integer is no
/// exclusive one, and an unsigned number has the bound 0.
fn bounds(schema: &mut Object) {
    let is_integer = schema.get("type").is_some_and(|kind| kind == "integer");
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    if format.starts_with("uint") && !schema.contains_key("minimum") {
        schema.insert("minimum".to_owned(), json!(0));
    }
    for (name, exclusive, next) in
        [("minimum", "exclusiveMinimum", 1), ("maximum", "exclusiveMaximum", -1)]
    {
        if schema.get(exclusive) != Some(&Value::Bool(true)) {
            continue;
        }
        let Some(bound) = schema.get(name).cloned() else { continue };
        schema.remove(exclusive);
        let inclusive = bound.as_i64().and_then(|number| number.checked_add(next));
        let bound = match inclusive.filter(|_| is_integer) {
            Some(number) => json!(number),
            None => json!({ "exclusive": bound }),
        };
        schema.insert(name.to_owned(), bound);
    }
}
