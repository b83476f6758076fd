//! The one pass that gives a document one spelling, before anything is compared.
//!
//! What is equal afterwards (sections of OpenAPI 3.0.3):
//!
//! | written | is the same as | section |
//! | --- | --- | --- |
//! | a default of [`unknown::DEFAULTS`](crate::unknown) | its absence | in that table |
//! | `style`, `explode` of a parameter as by default | their absence | Parameter Object |
//! | `security` of the document at an operation | its absence there | Operation Object |
//! | `security: []` | `security: [{}]`: anybody | Security Requirement Object |
//! | `servers` of the document at an operation; `[{"url": "/"}]` | their absence | OpenAPI Object |
//! | `nullable` of a parameter that is a text | its absence | Parameter Object, `style` |
//! | parameters of a path | the same at each operation | Path Item Object |
//! | `$ref` with anything beside it | the `$ref` alone | Reference Object |
//! | `$ref` | what it leads to; only generated types have its name | Reference Object |
//! | `allOf`, `oneOf`, `anyOf` of one part, with or without a description | the part | Schema Object |
//! | `oneOf` of enumerations, as documented unit variants are | one enumeration | Schema Object |
//! | a part or a value that is null alone | `nullable: true` | Schema Object |
//! | objects in an `allOf` that share no member | one object | Schema Object |
//! | `additionalProperties: true` or `{}`; lengths and counts from 0 | their absence | Schema Object |
//! | `minimum: 0` of an unsigned format | its absence | Data Types |
//! | `exclusiveMinimum` 0 of an integer | `minimum` 1 | Schema Object |
//! | the order of lists, but for the text of values | any other order | |
//!
//! Nothing here knows two documents.

mod operation;
mod parts;
mod schema;

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use openapiv3::{OpenAPI, ReferenceOr};
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::model::{Model, Schema};

/// The model of a document, which is given as JSON too: a reference may lead to any place in it.
pub fn normalised(json: &Value, openapi: OpenAPI) -> Result<Model> {
    let mut normaliser =
        Normaliser { json, model: Model::default(), pending: Vec::new(), schemes: BTreeMap::new() };
    normaliser.document(openapi)?;
    normaliser.named_schemas()?;
    normaliser.model.take_prints();
    Ok(normaliser.model)
}

struct Normaliser<'a> {
    json: &'a Value,
    model: Model,
    /// Pointers of schemas that are still to be read.
    pending: Vec<String>,
    /// What each security scheme asks for, by its name.
    schemes: BTreeMap<String, String>,
}

impl Normaliser<'_> {
    /// Reads every schema that has a name, or that a reference leads to.
    fn named_schemas(&mut self) -> Result<()> {
        let named = self.json["components"]["schemas"].as_object();
        let pointers =
            named.into_iter().flatten().map(|(name, _)| step("#/components/schemas", name));
        self.pending.extend(pointers.collect::<Vec<_>>());
        while let Some(pointer) = self.pending.pop() {
            if !self.model.schemas.contains_key(&pointer) {
                let schema = self.named_schema(&pointer)?;
                self.model.schemas.insert(pointer, schema);
            }
        }
        Ok(())
    }

    /// A schema by its pointer. A name that nobody defines allows every value.
    fn named_schema(&mut self, pointer: &str) -> Result<Schema> {
        if pointer.starts_with("#/") && self.value(pointer)?.is_none() {
            return Ok(Schema::default());
        }
        let schema: ReferenceOr<openapiv3::Schema> = self.target(pointer)?;
        Ok(self.used(pointer, schema))
    }

    fn value(&self, reference: &str) -> Result<Option<&Value>> {
        let pointer = reference.strip_prefix('#').with_context(|| {
            format!("the `$ref` `{reference}` leads out of the document: bundle the files first")
        })?;
        // A pointer in a URL may be percent-encoded (RFC 6901, section 6).
        let decoded = percent_decode_str(pointer).decode_utf8_lossy();
        Ok(self.json.pointer(&decoded))
    }

    /// What a reference leads to, which may be another reference.
    fn target<T: DeserializeOwned>(&self, reference: &str) -> Result<ReferenceOr<T>> {
        let value = self.value(reference)?;
        let value = value.with_context(|| format!("the `$ref` `{reference}` leads nowhere"))?;
        ReferenceOr::deserialize(value)
            .with_context(|| format!("the `$ref` `{reference}` leads to something else"))
    }

    /// The object and its place, after all references.
    fn followed<T: DeserializeOwned>(
        &self,
        place: String,
        item: ReferenceOr<T>,
    ) -> Result<(String, T)> {
        let mut place = place;
        let mut item = item;
        for _ in 0..100 {
            match item {
                ReferenceOr::Item(item) => return Ok((place, item)),
                ReferenceOr::Reference { reference } => {
                    item = self.target(&reference)?;
                    place = reference;
                }
            }
        }
        bail!("the `$ref` `{place}` leads in a circle")
    }

    /// Keeps the texts for people that an object has.
    fn texts(&mut self, place: &str, texts: impl IntoIterator<Item = Option<String>>) {
        let texts = texts.into_iter().flatten();
        self.model.texts.entry(place.to_owned()).or_default().extend(texts);
    }

    /// Keeps the extensions that an object has.
    fn extensions(&mut self, place: &str, extensions: impl IntoIterator<Item = (String, Value)>) {
        let found = self.model.extensions.entry(place.to_owned()).or_default();
        for (name, value) in extensions {
            found.entry(name).or_default().insert(canonical(&value));
        }
    }
}

/// A place below another one.
pub fn step(place: &str, name: &str) -> String {
    format!("{place}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// A value as JSON, with its members in order.
pub fn canonical(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members: BTreeMap<_, _> = members.iter().collect();
            let members = members.into_iter().map(|(name, member)| {
                format!("{}:{}", Value::from(name.as_str()), canonical(member))
            });
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(","))
        }
        _ => value.to_string(),
    }
}
