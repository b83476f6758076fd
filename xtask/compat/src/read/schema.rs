//! Reads schemas.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::Value;

use super::{Keywords, Reader, number};
use crate::json::{Json, decoded, steps, unified};
use crate::keyword::keyword;
use crate::model::{Aside, Code, Limit, Null, Others, Pointer, Schema, SchemaNotes, Whole};

/// Where a schema stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// It has a name, or a reference leads to it.
    Root,
    /// It stands inside of something else.
    Inner,
}

impl<'t> Reader<'t> {
    /// Reads a schema. A value that is no schema is an unknown keyword without a name.
    pub fn schema(&mut self, json: &Json<'t>, position: Position) -> Rc<Schema> {
        let schema = match json.reference() {
            Some(reference) => self.reference(&decoded(reference)),
            None if json.is_object() => self.object(json, position),
            None => {
                let mut schema = Schema::default();
                schema.notes.rest.unknown.insert("".into(), Whole::of(&json));
                schema
            }
        };
        Rc::new(schema.at(json.place.clone()))
    }

    /// Returns a reference to a schema, which is to be read.
    fn reference(&mut self, pointer: &str) -> Schema {
        Schema { to: Some(self.referenced(Pointer::new(pointer))), ..Schema::default() }
    }

    pub fn referenced(&mut self, pointer: Pointer) -> Pointer {
        if self.model.referenced.insert(pointer.clone()) {
            self.pending.push(pointer.clone());
        }
        pointer
    }

    fn object(&mut self, json: &Json<'t>, position: Position) -> Schema {
        let mut keywords = Keywords::of(json);
        let title = keywords.left.get("title").filter(|_| has_named_type(json));
        let title = title.map(|title| title.shown().into());
        let mut schema = Schema {
            kind: keywords.take_text("type").map(Into::into),
            format: keywords.take_text("format").map(Into::into),
            items: keywords.take("items").map(|items| self.schema(&items, Position::Inner)),
            not: keywords.take("not").map(|not| self.schema(&not, Position::Inner)),
            ..Schema::default()
        };
        let members = keywords.take("properties");
        // Client generators take a schema with members and without a type for an object.
        schema.kind = schema.kind.or_else(|| match (&members, &schema.items) {
            (Some(_), _) => Some("object".into()),
            (None, Some(_)) => Some("array".into()),
            (None, None) => None,
        });
        for (name, member) in members.into_iter().flat_map(|one| one.entries()) {
            schema.members.insert(name.into(), self.schema(&member, Position::Inner));
        }
        if keywords.left.get("required").is_some_and(|list| list.is_array())
            && let Some(required) = keywords.left.remove("required")
        {
            // Only objects have members.
            if schema.kind.as_deref().is_none_or(|kind| kind == "object") {
                schema.required =
                    required.items().filter_map(|one| one.text()).map(Into::into).collect();
            }
        }
        self.others(&mut schema, &mut keywords);
        limits(&mut schema, &mut keywords);
        let is_nullable = keywords.take_flag("nullable");
        let values = keywords.take("enum");
        let tag = keywords.take("discriminator");
        let [all, one, any] = ["allOf", "oneOf", "anyOf"].map(|name| {
            let parts = keywords.take(name).into_iter().flat_map(|one| one.items());
            parts.map(|part| self.schema(&part, Position::Inner)).collect::<Vec<_>>()
        });
        schema.tag = tag.map(|tag| Box::new(self.tag(&tag)));
        schema.notes = SchemaNotes {
            null: if is_nullable { Null::Yes } else { Null::No },
            default: keywords.take("default").map(|default| default.to_string().into()),
            is_read_only: keywords.take_flag("readOnly"),
            is_write_only: keywords.take_flag("writeOnly"),
            codes: codes(&mut keywords),
            rest: self.notes(keywords, "schema"),
        };
        schema.made.0.name = title;
        if let Some(values) = values {
            enumerate(&mut schema, &values);
        }
        let mut schema = self.merged(schema, all, [("oneOf", one), ("anyOf", any)], json, position);
        self.discriminate(&mut schema, json, position == Position::Root);
        let kind = schema.kind.clone();
        schema.limits.retain(|name, _| {
            keyword(name).is_none_or(|keyword| keyword.applies_to(kind.as_deref()))
        });
        if crate::model::is_any(&schema) {
            // Any value may be null.
            schema.notes.null = Null::No;
        }
        schema
    }

    /// Reads the members that have no name. An empty schema allows any of them.
    fn others(&mut self, schema: &mut Schema, keywords: &mut Keywords<'t>) {
        let Some(json) = keywords.left.get("additionalProperties") else { return };
        schema.others = match json.value {
            Value::Bool(false) => Others::None,
            Value::Object(..) => {
                let others = self.schema(json, Position::Inner);
                if *others == Schema::default() { Others::Any } else { Others::Only(others) }
            }
            _ => return,
        };
        keywords.left.remove("additionalProperties");
    }
}

/// Whether generators make a type of an inline schema, with its title as the name. Any other title
/// is text for people.
pub fn has_named_type(json: &Json<'_>) -> bool {
    let is_case =
        steps(&json.place).rev().nth(1).is_some_and(|list| list == "oneOf" || list == "anyOf");
    let has_type = ["allOf", "anyOf", "enum", "oneOf", "properties"];
    let is_made = is_case || has_type.iter().any(|name| json.get(name).is_some());
    is_made && !Pointer::new(&json.place).is_type()
}

/// Reads the limits. A bound and its exclusiveness become one limit, the exclusive bound of an
/// integer becomes the next inclusive one, and an unsigned format has the minimum 0.
fn limits(schema: &mut Schema, keywords: &mut Keywords<'_>) {
    let found = keywords.left.keys().filter_map(|name| keyword(name));
    let found: Vec<_> = found.filter(|keyword| keyword.is_limit()).collect();
    for keyword in found {
        let Some(value) = keywords.take(keyword.name) else { continue };
        let limit = match unified(&value) {
            Value::Number(number) => Limit::Number(number),
            _ => Limit::Other(value.to_string().into()),
        };
        schema.limits.insert(keyword.name, limit);
    }
    if schema.format.as_deref().is_some_and(|format| format.starts_with("uint")) {
        schema.limits.entry("minimum").or_insert_with(|| Limit::Number(0.into()));
    }
    let is_integer = schema.kind.as_deref() == Some("integer");
    for (name, exclusive, step) in
        [("minimum", "exclusiveMinimum", 1), ("maximum", "exclusiveMaximum", -1)]
    {
        if !keywords.take_flag(exclusive) {
            continue;
        }
        if let Some(Limit::Number(bound)) = schema.limits.get(name) {
            let next = number::next(bound, step).filter(|_| is_integer);
            let bound = next.map_or_else(|| Limit::Exclusive(bound.clone()), Limit::Number);
            schema.limits.insert(name, bound);
        }
    }
}

/// Reads an enumeration. Null is allowed if both the type and the list allow it, because `nullable`
/// adds null to the type alone.
fn enumerate(schema: &mut Schema, values: &Json<'_>) {
    let is_listed = values.items().any(|value| value.is_null());
    let is_nullable = schema.notes.null == Null::Yes;
    schema.notes.null = match (is_nullable || schema.kind.is_none(), is_listed) {
        (true, true) => Null::Yes,
        _ if is_nullable => Null::Unlisted,
        _ => Null::No,
    };
    let values = values.items().filter(|value| !value.is_null());
    schema.values = Some(values.map(|value| value.to_string()).collect::<BTreeSet<_>>());
}

/// Reads the values that a client may decide by, from `x-extensible-enum` and `x-error-codes`.
fn codes(keywords: &mut Keywords<'_>) -> BTreeMap<String, Code> {
    let mut codes: BTreeMap<String, Code> = BTreeMap::new();
    for value in keywords.take("x-extensible-enum").into_iter().flat_map(|one| one.items()) {
        let place = Aside(value.place.clone());
        codes.insert(value.to_string(), Code { place, is_listed: true, row: None });
    }
    for row in keywords.take("x-error-codes").into_iter().flat_map(|one| one.items()) {
        let code = row.get("error").map_or_else(|| "null".to_owned(), |code| code.to_string());
        let code = codes.entry(code).or_default();
        code.place = Aside(row.place.clone());
        code.row = Some(row["retryable"].to_string().into());
    }
    codes
}
