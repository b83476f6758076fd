//! The one pass that gives a document one spelling, before anything is compared.
//!
//! What is equal afterwards (sections of OpenAPI 3.0.3):
//!
//! | written | is the same as | section |
//! | --- | --- | --- |
//! | a default of [`DEFAULTS`] | its absence | in that table |
//! | no `style` or `explode` of a parameter | the default one | Parameter Object |
//! | `explode` of a value that it does not change | its absence | Parameter Object |
//! | a header `Accept`, `Authorization`, `Content-Type` | its absence | Parameter Object, Response Object |
//! | `security` of the document at an operation | its absence there | Operation Object |
//! | `security: []` | `security: [{}]`: anybody | Security Requirement Object |
//! | the name of an apiKey header in another case | the same name | RFC 9110, section 5.1 |
//! | `servers` of the document at an operation; `[{"url": "/"}]` | their absence | OpenAPI Object |
//! | `nullable` of a parameter that is a text | its absence | Parameter Object, `style` |
//! | `encoding` of anything but a form in a request | its absence | Media Type Object |
//! | parameters of a path | the same at each operation | Path Item Object |
//! | `$ref` with anything beside it | the `$ref` alone | Reference Object |
//! | `$ref` | what it leads to; only generated types have its name | Reference Object |
//! | `allOf` of several parts | one schema that says the same | Schema Object |
//! | `allOf`, `oneOf`, `anyOf` of one part, with or without a description | the part | Schema Object |
//! | `oneOf` of enumerations, as documented unit variants are | one enumeration | Schema Object |
//! | a part or a value that is null alone | `nullable: true` | Schema Object |
//! | a mapping of a discriminator to the names of types | no mapping | Discriminator Object |
//! | `minimum: 0` of an unsigned format | its absence | Data Types |
//! | `exclusiveMinimum` 0 of an integer | `minimum` 1 | Schema Object |
//! | 1.0 | 1 | Data Types |
//! | the order of lists, but for the text of values | any other order | |
//!
//! The result is JSON, as the document is. So a keyword that is not named here stays, and the
//! comparison finds it. Only the words of security schemes are dropped. What the pass itself adds
//! has one of the names of [`INTERNAL`]; above all each object says where it is written.
//!
//! Nothing here knows two documents.

mod body;
mod discriminator;
mod media;
mod merge;
pub mod number;
mod operation;
mod prints;
mod schema;
mod security;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};

use crate::pointer::step;
use discriminator::Children;
pub use media::{includes, is_same_in_utf_8, is_xml, media_type};
use merge::Parts;
pub use operation::Operation;
use prints::Prints;
pub use schema::is_bound;

/// An object of a document.
pub type Object = Map<String, Value>;

/// Where an object is written, as a JSON pointer.
pub const AT: &str = "$at";
/// The types that a schema with a discriminator stands for.
pub const CHILDREN: &str = "$children";
/// The name of the generated type of an inline schema.
pub const NAME: &str = "$name";
/// The types from whose parts a schema was merged; the empty name stands for the schema itself.
pub const PARTS: &str = "$parts";
/// The values of a discriminator that mean a type.
pub const VALUES: &str = "$values";
/// The names that only this pass gives.
pub const INTERNAL: [&str; 5] = [AT, CHILDREN, NAME, PARTS, VALUES];

/// A document in one spelling.
#[derive(Default)]
pub struct Model {
    /// By path, with `{}` for each parameter, and method.
    pub operations: BTreeMap<(String, &'static str), Operation>,
    /// Each schema that has a name or that a reference leads to, by its JSON pointer.
    pub schemas: BTreeMap<String, Value>,
    /// The pointers of the schemas that a reference leads to.
    pub referenced: BTreeSet<String>,
    /// What each schema says, whatever its name is.
    pub prints: Prints,
    /// All the rest of the document.
    pub rest: Value,
}

/// Keywords with a value that means the same as their absence, by that value: OpenAPI 3.0.3 says so
/// of each in the section of its object. `null` stands for every keyword: some writers put it where
/// there is no value.
const DEFAULTS: [(&str, &str); 5] = [
    ("{}", "callbacks content encoding examples headers links properties"),
    ("[]", "allOf anyOf enum oneOf parameters required servers tags"),
    ("0", "minItems minLength minProperties"),
    ("true", "additionalProperties"),
    (
        "false",
        "allowEmptyValue allowReserved deprecated exclusiveMaximum exclusiveMinimum nullable \
         readOnly required uniqueItems writeOnly",
    ),
];

/// The document in one spelling.
pub fn normalised(document: &Value) -> Result<Model> {
    let mut document = document.clone();
    number::unify(&mut document);
    let mut normaliser = Normaliser {
        document: &document,
        children: Children::of(&document),
        mappings: BTreeMap::new(),
        model: Model::default(),
        parts: Parts::default(),
        pending: Vec::new(),
    };
    normaliser.operations()?;
    normaliser.schemas()?;
    normaliser.model.prints = Prints::of(&normaliser.model.schemas);
    normaliser.model.rest = Value::Object(rest(&document));
    Ok(normaliser.model)
}

struct Normaliser<'a> {
    document: &'a Value,
    children: Children,
    /// The mappings of the discriminators, by the place of each.
    mappings: BTreeMap<String, Value>,
    model: Model,
    parts: Parts,
    /// Pointers of schemas that are still to be read.
    pending: Vec<String>,
}

impl Normaliser<'_> {
    /// Reads every schema that has a name, or that a reference leads to.
    fn schemas(&mut self) -> Result<()> {
        let named = self.document["components"]["schemas"].as_object();
        let named = named.into_iter().flatten().map(|(name, _)| step("#/components/schemas", name));
        self.pending.extend(named);
        while let Some(pointer) = self.pending.pop() {
            if !self.model.schemas.contains_key(&pointer) {
                // A name that nobody defines allows every value.
                let found = target(self.document, &pointer)?;
                let schema = found.cloned().unwrap_or_else(|| json!({}));
                let schema = self.schema(schema, &pointer);
                self.model.schemas.insert(pointer, schema);
            }
        }
        Ok(())
    }

    /// The object, after all references and without what means the same as its absence. It says
    /// where it is written.
    fn followed(&self, value: &Value, place: &str) -> Result<Object> {
        let (mut value, mut place) = (value, place.to_owned());
        for _ in 0..LONGEST_CHAIN {
            let Some(reference) = value["$ref"].as_str() else {
                let object = value.as_object().context("something is no object that has to be one");
                let mut object = without_defaults(object?.clone());
                object.insert(AT.to_owned(), json!(place));
                return Ok(object);
            };
            place = pointer(reference);
            let target = target(self.document, reference)?;
            value = target.with_context(|| format!("the `$ref` `{reference}` leads nowhere"))?;
        }
        bail!("the `$ref` {} leads in a circle", value["$ref"])
    }
}

/// The value to which a reference leads.
fn target<'a>(document: &'a Value, reference: &str) -> Result<Option<&'a Value>> {
    let pointer = pointer(reference);
    let pointer = pointer.strip_prefix('#').with_context(|| {
        format!("the `$ref` `{reference}` leads out of the document: bundle the files first")
    })?;
    Ok(document.pointer(pointer))
}

/// A reference as a JSON pointer, which may be percent-encoded in a URL (RFC 6901, section 6).
fn pointer(reference: &str) -> String {
    percent_decode_str(reference).decode_utf8_lossy().into_owned()
}

/// So many references are followed, one after the other, to an object that is none.
pub const LONGEST_CHAIN: usize = 100;

/// What the operations and the schemas do not have. The version says what the changes mean; it is no
/// change itself.
fn rest(document: &Value) -> Object {
    let mut rest = document.as_object().cloned().unwrap_or_default();
    let judged = ["openapi", "security", "servers"];
    rest.retain(|name, _| !judged.contains(&name.as_str()));
    // They are judged where an operation uses them.
    if let Some(components) = rest.get_mut("components").and_then(Value::as_object_mut) {
        components.retain(|kind, _| !is_judged(kind));
    }
    // An operation has what its path says.
    if let Some(paths) = rest.get_mut("paths").and_then(Value::as_object_mut) {
        paths.retain(|path, _| path.starts_with("x-"));
    }
    if let Some(info) = rest.get_mut("info").and_then(Value::as_object_mut) {
        info.remove("version");
    }
    without_defaults(rest)
}

/// Whether components of a kind (Components Object) are judged where an operation uses them.
fn is_judged(kind: &str) -> bool {
    let kinds = "callbacks examples headers links parameters requestBodies responses schemas \
                 securitySchemes";
    kinds.split(' ').any(|one| one == kind)
}

fn without_defaults(mut object: Object) -> Object {
    let is_default = |keyword: &str, value: &Value| {
        let fits = |keywords: &str| keywords.split(' ').any(|one| one == keyword);
        let mut defaults = DEFAULTS.iter().filter(|(_, keywords)| fits(keywords));
        defaults
            .any(|(default, _)| serde_json::from_str(default).is_ok_and(|one: Value| one == *value))
    };
    object.retain(|keyword, value| !value.is_null() && !is_default(keyword, value));
    object
}

/// The items of a list, which nobody has to write.
fn list(value: &Value) -> Result<Vec<Value>> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(items) => Ok(items.clone()),
        _ => bail!("something is no list that has to be one"),
    }
}

/// A list in order, with each value once.
fn set(list: Value) -> Value {
    let Value::Array(items) = list else { return list };
    let items: BTreeMap<String, Value> =
        items.into_iter().map(|item| (item.to_string(), item)).collect();
    items.into_values().collect()
}

/// The keywords of a schema that are text for people.
const TEXTS: [&str; 4] = ["description", "example", "externalDocs", "title"];

/// Whether a keyword says nothing about the values. `nullable` is such a keyword, as a type that is
/// used in two places may be nullable in one.
pub fn is_note(name: &str) -> bool {
    matches!(name, "default" | "deprecated" | "nullable" | "readOnly" | "writeOnly" | AT | NAME)
        || TEXTS.contains(&name)
        || name.starts_with("x-")
}

/// Whether a schema allows every value.
pub fn is_unconstrained(schema: &Object) -> bool {
    schema.keys().all(|name| is_note(name))
}

/// A schema with what the one around it says beside it.
fn over(outer: Object, inner: Object) -> Object {
    let mut both = inner;
    both.extend(outer);
    both
}

/// A schema without the texts for people, and without what does not follow from what it says.
pub fn meaning(schema: &Value) -> Value {
    without(schema, &|name| TEXTS.contains(&name))
}

/// A schema without what does not follow from what is written in it.
pub fn written(schema: &Value) -> Value {
    without(schema, &|_| false)
}

fn without(schema: &Value, is_dropped: &dyn Fn(&str) -> bool) -> Value {
    match schema {
        Value::Object(keywords) => {
            let keywords = keywords.iter().filter(|(name, _)| {
                // A reference to what stands beside it.
                let is_inline = *name == "$ref" && keywords.contains_key("allOf");
                !(is_inline || is_dropped(name) || [AT, NAME, PARTS].contains(&name.as_str()))
            });
            let keywords = keywords.map(|(name, value)| {
                let value = match (name.as_str(), value) {
                    ("default" | "enum", _) => value.clone(),
                    ("properties", Value::Object(members)) => members
                        .iter()
                        .map(|(name, one)| (name.clone(), without(one, is_dropped)))
                        .collect(),
                    _ => without(value, is_dropped),
                };
                (name.clone(), value)
            });
            Value::Object(keywords.collect())
        }
        Value::Array(items) => items.iter().map(|item| without(item, is_dropped)).collect(),
        _ => schema.clone(),
    }
}

impl Model {
    /// A schema that is no reference: the one to which a chain of references leads, with what each
    /// of them says beside it. None if the chain is a circle or has more than 100 links.
    pub fn resolved(&self, schema: &Value) -> Option<Value> {
        let mut schema = schema.clone();
        for _ in 0..LONGEST_CHAIN {
            let Some(pointer) = schema.get("$ref").and_then(Value::as_str) else {
                return Some(schema);
            };
            let inner = self.schemas.get(pointer)?.clone();
            let (Value::Object(mut outer), Value::Object(inner)) = (schema, inner.clone()) else {
                return Some(inner);
            };
            outer.remove("$ref");
            outer.remove("allOf");
            schema = Value::Object(over(outer, inner));
        }
        None
    }
}
