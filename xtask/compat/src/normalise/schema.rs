//! One spelling for schemas.

use std::borrow::Borrow;
use std::collections::BTreeMap;

use openapiv3::{AdditionalProperties, AnySchema, ReferenceOr, SchemaKind};
use serde::Deserialize;
use serde_json::Value;

use super::parts::{alternatives, demands};
use super::{Normaliser, canonical, step};
use crate::model::{Bound, Limits, Others, Schema, Shape};

impl Normaliser<'_> {
    /// A schema or a reference to one.
    pub fn used<S>(&mut self, place: &str, schema: ReferenceOr<S>) -> Schema
    where
        S: Into<Box<openapiv3::Schema>> + Borrow<openapiv3::Schema>,
    {
        match schema {
            ReferenceOr::Reference { reference } => self.reference(reference),
            ReferenceOr::Item(schema) => self.schema(place, *schema.into()),
        }
    }

    fn reference(&mut self, pointer: String) -> Schema {
        if self.model.referenced.insert(pointer.clone()) {
            self.pending.push(pointer.clone());
        }
        Schema { shape: Shape::Reference { pointer }, ..Schema::default() }
    }

    fn schema(&mut self, place: &str, schema: openapiv3::Schema) -> Schema {
        let data = schema.schema_data;
        let docs = data.external_docs.map(|docs| docs.url);
        let example = data.example.map(|example| canonical(&example));
        self.texts(place, [data.title.clone(), data.description, docs, example]);
        let mut extensions = data.extensions.into_iter().collect();
        let codes = codes(&mut extensions);
        self.extensions(place, extensions);
        let discriminator = data.discriminator.map(|found| {
            let mapping: BTreeMap<_, _> = found.mapping.into_iter().collect();
            format!("{} {mapping:?}", found.property_name)
        });

        let outer = Schema {
            nullable: data.nullable,
            read_only: data.read_only,
            write_only: data.write_only,
            deprecated: data.deprecated,
            default: data.default.map(|default| canonical(&default)),
            title: data.title,
            shape: Shape::default(),
        };
        let inner = self.limits(place, keywords(schema.schema_kind), codes, discriminator);
        over(outer, inner)
    }

    /// What a schema says of values: its keywords in one spelling.
    fn limits(
        &mut self,
        place: &str,
        any: AnySchema,
        codes: BTreeMap<String, Option<bool>>,
        discriminator: Option<String>,
    ) -> Schema {
        let bounds = bounds(&any);
        let inner = format!("{place}/properties");
        let members: BTreeMap<String, Schema> = any
            .properties
            .into_iter()
            .map(|(name, member)| {
                let member = self.used(&step(&inner, &name), member);
                (name, member)
            })
            .collect();
        let others = match any.additional_properties {
            None | Some(AdditionalProperties::Any(true)) => Others::Open,
            Some(AdditionalProperties::Any(false)) => Others::Closed(false),
            Some(AdditionalProperties::Schema(schema)) => {
                match self.used(&step(place, "additionalProperties"), *schema) {
                    schema if schema == Schema::default() => Others::Open,
                    schema => Others::Like(Box::new(schema)),
                }
            }
        };
        let items = any.items.map(|items| Box::new(self.used(&step(place, "items"), items)));
        let not = any.not.map(|not| Box::new(self.used(&step(place, "not"), *not)));
        let mut list = |parts: Vec<ReferenceOr<openapiv3::Schema>>, name: &str| {
            let place = step(place, name);
            parts.into_iter().map(|part| self.used(&place, part)).collect::<Vec<_>>()
        };
        let one_of = list(any.one_of, "oneOf");
        let any_of = list(any.any_of, "anyOf");
        let mut all_of = list(any.all_of, "allOf");

        let mut nullable = false;
        let values = (!any.enumeration.is_empty()).then(|| {
            nullable = any.enumeration.contains(&Value::Null);
            any.enumeration.iter().filter(|value| !value.is_null()).map(canonical).collect()
        });
        let mut rules = BTreeMap::new();
        rules.extend(any.pattern.map(|pattern| ("pattern", pattern)));
        rules.extend(any.multiple_of.map(|number| ("multipleOf", number.to_string())));
        // Without a type, members make it an object for each generator of clients.
        let kind = any.typ.or_else(|| match () {
            () if !members.is_empty() => Some("object".to_owned()),
            () if items.is_some() => Some("array".to_owned()),
            () => None,
        });
        let mut limits = Limits {
            kind,
            format: any.format,
            values,
            rules,
            bounds,
            members,
            required: any.required.into_iter().collect(),
            others,
            items,
            not,
            discriminator,
            codes,
            ..Limits::default()
        };
        for (parts, is_any) in [(one_of, false), (any_of, true)] {
            if parts.is_empty() {
                continue;
            }
            let (parts, has_null) = alternatives(parts);
            nullable |= has_null;
            match <[Schema; 1]>::try_from(parts) {
                Ok([only]) => all_of.push(only),
                Err(parts) if limits.one_of.is_empty() => {
                    limits.one_of = parts;
                    limits.any = is_any;
                }
                Err(parts) => {
                    all_of.push(Schema::of(Limits {
                        one_of: parts,
                        any: is_any,
                        ..Limits::default()
                    }));
                }
            }
        }
        let schema = if all_of.is_empty() { Schema::of(limits) } else { demands(all_of, limits) };
        Schema { nullable: nullable || schema.nullable, ..schema }
    }
}

/// A schema with what the one around it says beside it.
fn over(outer: Schema, inner: Schema) -> Schema {
    Schema {
        nullable: outer.nullable || inner.nullable,
        read_only: outer.read_only || inner.read_only,
        write_only: outer.write_only || inner.write_only,
        deprecated: outer.deprecated || inner.deprecated,
        default: outer.default.or(inner.default),
        title: outer.title.or(inner.title),
        shape: inner.shape,
    }
}

/// The values of `x-extensible-enum` and the rows of `x-error-codes`.
fn codes(extensions: &mut BTreeMap<String, Value>) -> BTreeMap<String, Option<bool>> {
    let mut codes = BTreeMap::new();
    let mut list = |name| match extensions.remove(name) {
        Some(Value::Array(list)) => list,
        _ => Vec::new(),
    };
    for value in list("x-extensible-enum") {
        codes.insert(canonical(&value), None);
    }
    for row in list("x-error-codes") {
        codes.insert(canonical(&row["error"]), row["retryable"].as_bool());
    }
    codes
}

/// The numbers that values, lengths and counts may not pass.
fn bounds(any: &AnySchema) -> BTreeMap<&'static str, Bound> {
    let is_integer = any.typ.as_deref() == Some("integer");
    let is_unsigned = any.format.as_deref().is_some_and(|format| format.starts_with("uint"));
    let mut bounds = BTreeMap::new();
    for (name, number, exclusive) in [
        ("minimum", any.minimum.or(is_unsigned.then_some(0.0)), any.exclusive_minimum),
        ("maximum", any.maximum, any.exclusive_maximum),
    ] {
        let Some(number) = number else { continue };
        let exclusive = exclusive == Some(true);
        let next = if name == "minimum" { number + 1.0 } else { number - 1.0 };
        let bound = match exclusive && is_integer && number.fract() == 0.0 {
            true => Bound { number: next, exclusive: false },
            false => Bound { number, exclusive },
        };
        bounds.insert(name, bound);
    }
    for (name, number) in [
        ("minLength", any.min_length.filter(|&least| least > 0)),
        ("maxLength", any.max_length),
        ("minItems", any.min_items.filter(|&least| least > 0)),
        ("maxItems", any.max_items),
        ("minProperties", any.min_properties.filter(|&least| least > 0)),
        ("maxProperties", any.max_properties),
        ("uniqueItems", any.unique_items.filter(|&unique| unique).map(usize::from)),
    ] {
        #[expect(clippy::cast_precision_loss, reason = "no list is so long")]
        bounds
            .extend(number.map(|number| (name, Bound { number: number as f64, exclusive: false })));
    }
    bounds
}

/// The keywords of a schema, whatever its type: `openapiv3` has a structure for each type.
fn keywords(kind: SchemaKind) -> AnySchema {
    if let SchemaKind::Any(any) = kind {
        return any;
    }
    let json = serde_json::to_value(kind).expect("a schema is JSON");
    AnySchema::deserialize(json).expect("each type has some of all keywords")
}
