//! Normalises a document before anything is compared: removes every difference that means nothing.
//!
//! What is equal afterwards, by the sections of OpenAPI 3.0.3:
//!
//! | written | equal to | section |
//! | --- | --- | --- |
//! | a default value (`is_default`) | its absence | of each object |
//! | no `style` or `explode` of a parameter | the default | Parameter Object |
//! | `explode` of a value that it does not change | its absence | Parameter Object |
//! | a header `Accept`, `Authorization`, `Content-Type` | its absence | Parameter, Response Object |
//! | `security` of the document at an operation | its absence there | Operation Object |
//! | `security: []` | `security: [{}]`: anybody | Security Requirement Object |
//! | the name of an apiKey header in another case | the same name | RFC 9110, section 5.1 |
//! | `servers` of the document at an operation; `[{"url": "/"}]` | their absence | OpenAPI Object |
//! | `nullable` of a parameter that is text | its absence | Parameter Object, `style` |
//! | `encoding` of anything but a form in a request | its absence | Media Type Object |
//! | parameters of a path | the same parameters at each operation | Path Item Object |
//! | `$ref` with siblings | the `$ref` alone | Reference Object |
//! | `$ref` | its target; only generated types use its name | Reference Object |
//! | `allOf` of several parts | one schema that says the same | Schema Object |
//! | `allOf`, `oneOf`, `anyOf` of one part, described or not | the part | Schema Object |
//! | `oneOf` of enumerations, such as documented unit variants | one enumeration | Schema Object |
//! | a part or a value that only allows null | `nullable: true` | Schema Object |
//! | a mapping of a discriminator to the names of types | no mapping | Discriminator Object |
//! | `minimum: 0` of an unsigned format | its absence | Data Types |
//! | `exclusiveMinimum` 0 of an integer | `minimum` 1 | Schema Object |
//! | 1.0 | 1 | Data Types |
//! | a list without an order | the sorted list | |
//!
//! The result is JSON, like the document, so the comparison finds every keyword that is not named
//! here. Only the texts of security schemes are dropped. What this pass adds has one of the names
//! of [`INTERNAL`]; above all, each object notes where it is written.
//!
//! Nothing here knows that there are two documents.

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

use anyhow::{Context, Result, bail, ensure};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};

use crate::json::{entries, items};
use crate::pointer::{SCHEMAS, step};
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
/// The types of which a schema was merged; the empty name stands for its own keywords.
pub const PARTS: &str = "$parts";
/// The values of a discriminator that stand for a type.
pub const VALUES: &str = "$values";
/// The names of the members that this pass adds.
pub const INTERNAL: [&str; 5] = [AT, CHILDREN, NAME, PARTS, VALUES];

/// A normalised document.
#[derive(Default)]
pub struct Model {
    /// The operations by method and path, in which `{}` stands for each parameter.
    pub operations: BTreeMap<(String, &'static str), Operation>,
    /// The schemas that have a name or that a reference leads to, by JSON pointer.
    pub schemas: BTreeMap<String, Value>,
    /// The pointers to the schemas that a reference leads to.
    pub referenced: BTreeSet<String>,
    /// The fingerprints of the schemas.
    pub prints: Prints,
    /// What belongs to no operation and no schema.
    pub rest: Value,
}

/// Returns the normalised document.
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
    /// The mappings of the discriminators, by the place of the discriminator.
    mappings: BTreeMap<String, Value>,
    model: Model,
    parts: Parts,
    /// Pointers to schemas that are still to be normalised.
    pending: Vec<String>,
}

impl Normaliser<'_> {
    /// Normalises every schema that has a name, or that a reference leads to.
    fn schemas(&mut self) -> Result<()> {
        let named = entries(&self.document["components"]["schemas"]);
        self.pending.extend(named.map(|(name, _)| step(SCHEMAS, name)));
        while let Some(pointer) = self.pending.pop() {
            if !self.model.schemas.contains_key(&pointer) {
                // A name that is not defined allows every value.
                let found = target(self.document, &pointer)?;
                let schema = found.cloned().unwrap_or_else(|| json!({}));
                let schema = self.schema(schema, &pointer);
                self.model.schemas.insert(pointer, schema);
            }
        }
        Ok(())
    }

    /// Follows all references to an object, and notes where it is written. What means the same as
    /// its absence is left out.
    fn followed(&self, value: &Value, place: &str) -> Result<Object> {
        let (mut value, mut place) = (value, place.to_owned());
        for _ in 0..LONGEST_CHAIN {
            let Some(reference) = value["$ref"].as_str() else {
                let object = value.as_object().with_context(|| format!("{place} is not an object"));
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

/// The longest chain of references that is followed.
pub const LONGEST_CHAIN: usize = 100;

/// What belongs to no operation and no schema. The version says what the changes mean, and is no
/// change itself.
fn rest(document: &Value) -> Object {
    let mut rest = without_defaults(document.as_object().cloned().unwrap_or_default());
    for name in ["openapi", "security", "servers"] {
        rest.remove(name);
    }
    for (name, part) in &mut rest {
        let Value::Object(members) = part else { continue };
        members.retain(|member, _| match &name[..] {
            "components" => !is_one_of(member, USED),
            "info" => member != "version",
            "paths" => member.starts_with("x-"),
            _ => true,
        });
    }
    rest
}

/// The kinds of components that are compared where an operation uses them (Components Object).
const USED: &str = "callbacks examples headers links parameters requestBodies responses schemas \
                    securitySchemes";

fn without_defaults(mut object: Object) -> Object {
    object.retain(|keyword, value| !is_default(keyword, value));
    object
}

/// Whether a keyword with this value means the same as its absence. OpenAPI 3.0.3 says so in the
/// section of each object. Some writers put `null` where there is no value.
fn is_default(keyword: &str, value: &Value) -> bool {
    let keywords = match value {
        Value::Null => return true,
        Value::Object(members) if members.is_empty() => {
            "callbacks content encoding examples headers links properties"
        }
        Value::Array(items) if items.is_empty() => {
            "allOf anyOf enum oneOf parameters required servers tags"
        }
        Value::Number(number) if number.as_u64() == Some(0) => "minItems minLength minProperties",
        Value::Bool(true) => "additionalProperties",
        Value::Bool(false) => {
            "allowEmptyValue allowReserved deprecated exclusiveMaximum exclusiveMinimum nullable \
             readOnly required uniqueItems writeOnly"
        }
        _ => return false,
    };
    is_one_of(keyword, keywords)
}

/// Whether a name is one of these, which are separated by spaces.
fn is_one_of(name: &str, names: &str) -> bool {
    names.split(' ').any(|one| one == name)
}

/// The items of a list. The list may be missing.
fn list<'v>(name: &str, value: &'v Value) -> Result<&'v [Value]> {
    ensure!(value.is_null() || value.is_array(), "`{name}` is not an array");
    Ok(items(value))
}

/// Sorts a list and removes duplicates.
fn set(list: Value) -> Value {
    let Value::Array(items) = list else { return list };
    let items: BTreeMap<String, Value> =
        items.into_iter().map(|item| (item.to_string(), item)).collect();
    items.into_values().collect()
}

/// The keywords of a schema that are text for people.
const TEXTS: [&str; 4] = ["description", "example", "externalDocs", "title"];

/// Whether a keyword says nothing about the values. `nullable` is one of them, because a type that
/// is used in two places may be nullable in one of them.
pub fn is_note(name: &str) -> bool {
    matches!(name, "default" | "deprecated" | "nullable" | "readOnly" | "writeOnly" | AT | NAME)
        || TEXTS.contains(&name)
        || name.starts_with("x-")
}

/// Whether a schema allows every value.
pub fn is_unconstrained(schema: &Object) -> bool {
    schema.keys().all(|name| is_note(name))
}

/// A schema with the keywords that stand beside it, which take precedence.
fn over(outer: Object, inner: Object) -> Object {
    let mut both = inner;
    both.extend(outer);
    both
}

/// A schema without texts for people, and without what this pass added about its origin.
pub fn meaning(schema: &Value) -> Value {
    without(schema, &|name| TEXTS.contains(&name))
}

/// A schema without what this pass added about its origin.
pub fn written(schema: &Value) -> Value {
    without(schema, &|_| false)
}

fn without(schema: &Value, is_dropped: &dyn Fn(&str) -> bool) -> Value {
    match schema {
        Value::Object(keywords) => {
            let keywords = keywords.iter().filter(|(name, _)| {
                // With `allOf` beside it, this pass wrote the reference.
                let is_added = *name == "$ref" && keywords.contains_key("allOf");
                !(is_added || is_dropped(name) || [AT, NAME, PARTS].contains(&name.as_str()))
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
    /// Follows a chain of references to a schema, and adds what each of them says beside it. None
    /// if the chain is a circle or has more than 100 links.
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
