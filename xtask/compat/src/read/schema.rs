//! Reads schemas.

use std::collections::BTreeSet;
use std::rc::Rc;

use serde_json::Value;

use super::Reader;
use super::keywords::{Keywords, without_references};
use crate::json::{Json, decoded, steps};
use crate::keyword::keyword;
use crate::kind::Kind;
use crate::model::{
    AdditionalProperties, Annotations, Codes, Extra, Extras, Nullable, Pointer, Schema,
};

/// Whether a schema is an entry of `Model::schemas`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// A schema of `components/schemas`, or the target of a reference.
    Root,
    /// Any other schema: it belongs to a schema, a parameter, a header or a media type.
    Inner,
}

impl<'t> Reader<'t> {
    /// Reads a schema. A value that is no object becomes an unknown keyword with an empty name.
    pub fn schema(&mut self, json: &Json<'t>, position: Position) -> Rc<Schema> {
        let schema = match json.reference() {
            Some(reference) => self.reference(&decoded(reference)),
            None if json.is_object() => self.object(json, position),
            None => {
                let mut schema = Schema::default();
                schema.others.insert("".into(), without_references(json, Kind::Unknown));
                schema
            }
        };
        Rc::new(schema)
    }

    /// Returns a schema that is a reference, and queues the target to be read.
    fn reference(&mut self, pointer: &str) -> Schema {
        Schema { reference: Some(self.referenced(Pointer::new(pointer))), ..Schema::default() }
    }

    /// Queues the target of a reference to be read.
    pub fn referenced(&mut self, pointer: Pointer) -> Pointer {
        if self.model.referenced.insert(pointer.clone()) {
            self.pending.push(pointer.clone());
        }
        pointer
    }

    fn object(&mut self, json: &Json<'t>, position: Position) -> Schema {
        let mut keywords = Keywords::of(json);
        let title = keywords.unread.get("title").filter(|_| has_named_type(json));
        let title = title.map(|title| title.shown().into());
        let mut schema = Schema {
            type_: keywords.take_text("type").map(Into::into),
            format: keywords.take_text("format").map(Into::into),
            items: keywords.take("items").map(|items| self.schema(&items, Position::Inner)),
            ..Schema::default()
        };
        let properties = keywords.take("properties");
        // Code generators infer a missing type from `properties` and `items`.
        schema.type_ = schema.type_.or_else(|| match (&properties, &schema.items) {
            (Some(_), _) => Some("object".into()),
            (None, Some(_)) => Some("array".into()),
            (None, None) => None,
        });
        for (name, property) in properties.into_iter().flat_map(|one| one.entries()) {
            schema.properties.insert(name.into(), self.schema(&property, Position::Inner));
        }
        if keywords.unread.get("required").is_some_and(|list| list.is_array())
            && let Some(required) = keywords.unread.remove("required")
        {
            // `required` applies only to objects.
            if schema.type_.as_deref().is_none_or(|type_| type_ == "object") {
                schema.required =
                    required.items().filter_map(|one| one.text()).map(Into::into).collect();
            }
        }
        self.additional_properties(&mut schema, &mut keywords);
        limits(&mut schema, &mut keywords);
        let is_nullable = keywords.take_flag("nullable");
        let values = keywords.take("enum");
        let discriminator = keywords.take("discriminator");
        let [all_of, one_of, any_of] = ["allOf", "oneOf", "anyOf"].map(|name| {
            let parts = keywords.take(name).into_iter().flat_map(|one| one.items());
            parts.map(|part| self.schema(&part, Position::Inner)).collect::<Vec<_>>()
        });
        schema.discriminator = discriminator.map(|json| Box::new(self.discriminator(&json)));
        schema.annotations = Annotations {
            nullable: if is_nullable { Nullable::Yes } else { Nullable::No },
            default: keywords.take("default").map(|default| default.to_string().into()),
            is_read_only: keywords.take_flag("readOnly"),
            is_write_only: keywords.take_flag("writeOnly"),
            codes: codes(&mut keywords),
            extras: Extras::new(),
        };
        let may_limit = |name: &str, extra: &Extra| name == "not" || extra.changed == Kind::Unknown;
        (schema.others, schema.annotations.extras) = self
            .extras(keywords, "schema")
            .into_iter()
            .partition(|(name, extra)| may_limit(name, extra));
        schema.generated.title = title;
        if let Some(values) = values {
            enumerate(&mut schema, &values);
        }
        let inner = (position == Position::Inner).then(|| Pointer::new(&json.place));
        let mut schema = self.composed(schema, all_of, one_of, any_of, inner);
        self.discriminate(&mut schema, json, position == Position::Root);
        let type_ = schema.type_.clone();
        schema.limits.retain(|name, _| {
            keyword(name).is_none_or(|keyword| keyword.applies_to(type_.as_deref()))
        });
        if crate::model::is_any(&schema) {
            // Without other keywords, null is allowed in any case.
            schema.annotations.nullable = Nullable::No;
        }
        schema
    }

    /// Reads `additionalProperties`. An empty schema means the same as `true`.
    fn additional_properties(&mut self, schema: &mut Schema, keywords: &mut Keywords<'t>) {
        let Some(json) = keywords.unread.get("additionalProperties") else {
            return;
        };
        schema.additional_properties = match json.value {
            Value::Bool(false) => AdditionalProperties::None,
            Value::Object(..) => {
                let schema = self.schema(json, Position::Inner);
                if *schema == Schema::default() {
                    AdditionalProperties::Any
                } else {
                    AdditionalProperties::Schema(schema)
                }
            }
            _ => return,
        };
        keywords.unread.remove("additionalProperties");
    }
}

/// Whether generators make a type of an inline schema, and name it after the title.
fn has_named_type(json: &Json<'_>) -> bool {
    let is_alternative =
        steps(&json.place).rev().nth(1).is_some_and(|list| list == "oneOf" || list == "anyOf");
    let has_type = ["allOf", "anyOf", "enum", "oneOf", "properties"];
    let makes_type = is_alternative || has_type.iter().any(|name| json.get(name).is_some());
    makes_type && !Pointer::new(&json.place).is_component()
}

/// Reads the limits. An unsigned format gets `minimum: 0`.
fn limits(schema: &mut Schema, keywords: &mut Keywords<'_>) {
    let found = keywords.unread.keys().filter_map(|name| keyword(name));
    let found: Vec<_> = found.filter(|keyword| keyword.is_limit()).collect();
    for keyword in found {
        let Some(value) = keywords.take(keyword.name) else {
            continue;
        };
        schema.limits.insert(keyword.name, value.to_string().into());
    }
    if schema.format.as_deref().is_some_and(|format| format.starts_with("uint")) {
        schema.limits.entry("minimum").or_insert_with(|| "0".into());
    }
}

/// Reads `enum`. Null is allowed if the list contains it and the type allows it, because `nullable`
/// changes only the type.
fn enumerate(schema: &mut Schema, values: &Json<'_>) {
    let is_listed = values.items().any(|value| value.is_null());
    let is_nullable = schema.annotations.nullable == Nullable::Yes;
    schema.annotations.nullable = match (is_nullable || schema.type_.is_none(), is_listed) {
        (true, true) => Nullable::Yes,
        _ if is_nullable => Nullable::Unlisted,
        _ => Nullable::No,
    };
    let values = values.items().filter(|value| !value.is_null());
    schema.enumeration = Some(values.map(|value| value.to_string()).collect::<BTreeSet<_>>());
}

/// Reads the values of `x-extensible-enum` and `x-error-codes`.
fn codes(keywords: &mut Keywords<'_>) -> Codes {
    let mut codes = Codes::new();
    for value in keywords.take("x-extensible-enum").into_iter().flat_map(|one| one.items()) {
        codes.insert(("x-extensible-enum", value.to_string()), "".into());
    }
    for row in keywords.take("x-error-codes").into_iter().flat_map(|one| one.items()) {
        let code = row.get("error").map_or_else(|| "null".to_owned(), |code| code.to_string());
        codes.insert(("x-error-codes", code), row["retryable"].to_string().into());
    }
    codes
}
