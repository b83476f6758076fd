//! Normalises schemas.

use std::mem;

use serde_json::{Value, json};

use super::{
    AT, INTERNAL, NAME, Normaliser, Object, is_unconstrained, pointer, set, without_defaults,
};
use crate::pointer::{is_type, step};

/// Whether a keyword limits numbers, lengths or counts.
pub fn is_bound(name: &str) -> bool {
    let of = name.strip_prefix("max").or(name.strip_prefix("min"));
    of.is_some_and(|of| matches!(of, "Items" | "Length" | "Properties" | "imum"))
}

impl Normaliser<'_> {
    /// Returns a reference to a schema, and queues the schema.
    pub fn reference(&mut self, pointer: &str, place: &str) -> Object {
        if self.model.referenced.insert(pointer.to_owned()) {
            self.pending.push(pointer.to_owned());
        }
        Object::from_iter(
            [("$ref", pointer), (AT, place)].map(|(name, to)| (name.to_owned(), json!(to))),
        )
    }

    /// Normalises a schema, and notes where it is written. A value that is no schema stays as it
    /// is.
    pub fn schema(&mut self, schema: Value, place: &str) -> Value {
        let Value::Object(schema) = schema else { return schema };
        if let Some(Value::String(reference)) = schema.get("$ref") {
            return Value::Object(self.reference(&pointer(reference), place));
        }
        let mut schema = without_defaults(schema);
        set_aside(&mut schema);
        for (name, value) in &mut schema {
            let place = step(place, name);
            match (&name[..], value) {
                ("items" | "additionalProperties" | "not", value) => {
                    *value = self.schema(value.take(), &place);
                }
                ("oneOf" | "anyOf" | "allOf", Value::Array(parts)) => {
                    for (at, part) in parts.iter_mut().enumerate() {
                        *part = self.schema(part.take(), &step(&place, &at.to_string()));
                    }
                }
                ("properties", Value::Object(members)) => {
                    for (name, member) in members {
                        *member = self.schema(member.take(), &step(&place, name));
                    }
                }
                _ => {}
            }
        }
        values(&mut schema);
        codes(&mut schema);
        bounds(&mut schema);
        // Client generators take a schema with members and without a type for an object.
        let by_members = [("properties", "object"), ("items", "array")];
        let kind = by_members.iter().find(|(name, _)| schema.contains_key(*name));
        if let (None, Some((_, kind))) = (schema.get("type"), kind) {
            schema.insert("type".to_owned(), json!(kind));
        }
        // An empty schema allows any other member.
        let others = schema.get("additionalProperties").and_then(Value::as_object);
        if others.is_some_and(|others| others.keys().all(|name| name == AT)) {
            schema.remove("additionalProperties");
        }
        name(&mut schema, place);
        let mut schema = self.merged(schema, place);
        self.discriminate(&mut schema, place);
        if is_unconstrained(&schema) {
            // Any value may be null.
            schema.remove("nullable");
        }
        schema.insert(AT.to_owned(), json!(place));
        Value::Object(schema)
    }
}

/// Renames a keyword whose value has the wrong type, so that it is an unknown keyword.
fn set_aside(schema: &mut Object) {
    for (name, value) in mem::take(schema) {
        let fits = match &name[..] {
            "discriminator" | "items" | "not" | "properties" => value.is_object(),
            "allOf" | "anyOf" | "enum" | "oneOf" | "required" | "x-error-codes"
            | "x-extensible-enum" => value.is_array(),
            _ => !INTERNAL.contains(&&name[..]),
        };
        schema.insert(if fits { name } else { format!("{name} of a wrong type") }, value);
    }
}

/// Sorts the lists that have no order, and moves null from `enum` to `nullable`. Null is allowed if
/// both the type and the list allow it, because `nullable` adds null to the type alone.
fn values(schema: &mut Object) {
    let required = schema.remove("required");
    // Only objects have members.
    if schema.get("type").is_none_or(|kind| kind == "object") {
        schema.extend(required.map(|required| ("required".to_owned(), set(required))));
    }
    if let Some(Value::Array(mut values)) = schema.remove("enum") {
        let nullable = schema.remove("nullable");
        let is_listed = values.contains(&Value::Null);
        values.retain(|value| !value.is_null());
        let nullable = match (nullable.is_some() || !schema.contains_key("type"), is_listed) {
            (true, true) => Some(json!(true)),
            _ => nullable.map(|_| json!("not listed")),
        };
        schema.extend(nullable.map(|nullable| ("nullable".to_owned(), nullable)));
        schema.insert("enum".to_owned(), set(Value::Array(values)));
    }
}

/// Merges `x-extensible-enum` and `x-error-codes`, the values that a client may decide by, into one
/// map: which of the lists contains a value, and whether the same request may succeed later.
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

/// Merges a bound and its exclusiveness into one keyword. An exclusive bound of an integer becomes
/// the next inclusive one, and an unsigned format has the minimum 0.
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
        let inclusive = super::number::whole(&bound).map(|number| number + next);
        let inclusive = inclusive.and_then(|number| {
            let unsigned = u64::try_from(number).map(Value::from);
            unsigned.or_else(|_| i64::try_from(number).map(Value::from)).ok()
        });
        let bound = inclusive.filter(|_| is_integer).unwrap_or(json!({ "exclusive": bound }));
        schema.insert(name.to_owned(), bound);
    }
}

/// Takes the title of an inline schema for the name of its generated type, if there is one. Any
/// other title is text for people.
fn name(schema: &mut Object, place: &str) {
    let steps: Vec<&str> = place.rsplit('/').collect();
    let is_case = matches!(steps[..], [_, "oneOf" | "anyOf", ..]);
    let has_type = ["allOf", "anyOf", "enum", "oneOf", "properties"];
    if !is_type(place) && (is_case || has_type.iter().any(|name| schema.contains_key(*name))) {
        let title = schema.remove("title");
        schema.extend(title.map(|title| (NAME.to_owned(), title)));
    }
}
