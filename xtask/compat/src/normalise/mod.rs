//! The one pass that gives a document one spelling, before anything is compared.
//!
//! What is equal afterwards (sections of OpenAPI 3.0.3):
//!
//! | written | is the same as | section |
//! | --- | --- | --- |
//! | a default of [`DEFAULTS`] | its absence | in that table |
//! | no `style` or `explode` of a parameter | the default one | Parameter Object |
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
//! | `minimum: 0` of an unsigned format | its absence | Data Types |
//! | `exclusiveMinimum` 0 of an integer | `minimum` 1 | Schema Object |
//! | 1.0 | 1 | Data Types |
//! | the order of lists, but for the text of values | any other order | |
//!
//! The result is JSON, as the document is. So a keyword that is not named here stays, and the
//! comparison finds it. Only the words of security schemes are dropped.
//!
//! Nothing here knows two documents.

mod operation;
mod parts;
mod prints;
mod schema;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value, json};

pub use parts::{is_note, meaning};
use prints::Prints;
pub use schema::BOUNDS;

/// An object of a document.
pub type Object = Map<String, Value>;

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

/// An operation: what it inherits is its own, and no reference is left but those to schemas.
pub struct Operation {
    /// Its name for people: `POST /plants`.
    pub name: String,
    /// Its JSON pointer.
    pub place: String,
    pub json: Value,
}

/// Keywords with a value that means the same as their absence, and where OpenAPI 3.0.3 says so.
/// `null` stands for every keyword: some writers put it where there is no value.
const DEFAULTS: &[(&str, &str, &str)] = &[
    ("additionalProperties", "true", "Schema Object"),
    ("allOf", "[]", "Schema Object"),
    ("allowEmptyValue", "false", "Parameter Object"),
    ("allowReserved", "false", "Parameter Object"),
    ("anyOf", "[]", "Schema Object"),
    ("callbacks", "{}", "Operation Object"),
    ("content", "{}", "Response Object"),
    ("deprecated", "false", "Operation Object"),
    ("encoding", "{}", "Media Type Object"),
    ("enum", "[]", "Schema Object"),
    ("examples", "{}", "Media Type Object"),
    ("exclusiveMaximum", "false", "Schema Object"),
    ("exclusiveMinimum", "false", "Schema Object"),
    ("headers", "{}", "Response Object"),
    ("links", "{}", "Response Object"),
    ("minItems", "0", "Schema Object"),
    ("minLength", "0", "Schema Object"),
    ("minProperties", "0", "Schema Object"),
    ("nullable", "false", "Schema Object"),
    ("oneOf", "[]", "Schema Object"),
    ("parameters", "[]", "Operation Object"),
    ("properties", "{}", "Schema Object"),
    ("readOnly", "false", "Schema Object"),
    ("required", "[]", "Schema Object"),
    ("required", "false", "Parameter Object"),
    ("servers", "[]", "OpenAPI Object"),
    ("tags", "[]", "OpenAPI Object"),
    ("uniqueItems", "false", "Schema Object"),
    ("writeOnly", "false", "Schema Object"),
];

/// The document in one spelling.
pub fn normalised(document: &Value) -> Result<Model> {
    let mut document = document.clone();
    numbers(&mut document);
    let mut normaliser =
        Normaliser { document: &document, model: Model::default(), pending: Vec::new() };
    normaliser.operations()?;
    normaliser.schemas()?;
    normaliser.model.prints = Prints::of(&normaliser.model.schemas);
    normaliser.model.rest = Value::Object(rest(&document));
    Ok(normaliser.model)
}

struct Normaliser<'a> {
    document: &'a Value,
    model: Model,
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
                let schema = self.value(&pointer)?.cloned().unwrap_or_else(|| json!({}));
                let schema = self.schema(schema);
                self.model.schemas.insert(pointer, schema);
            }
        }
        Ok(())
    }

    fn value(&self, reference: &str) -> Result<Option<&Value>> {
        let pointer = reference.strip_prefix('#').with_context(|| {
            format!("the `$ref` `{reference}` leads out of the document: bundle the files first")
        })?;
        // A pointer in a URL may be percent-encoded (RFC 6901, section 6).
        let decoded = percent_decode_str(pointer).decode_utf8_lossy();
        Ok(self.document.pointer(&decoded))
    }

    /// The object, after all references and without what means the same as its absence.
    fn followed(&self, value: &Value) -> Result<Object> {
        let mut value = value;
        for _ in 0..LONGEST_CHAIN {
            let Some(reference) = value["$ref"].as_str() else {
                let object = value.as_object().context("something is no object that has to be one");
                return Ok(without_defaults(object?.clone()));
            };
            let target = self.value(reference)?;
            value = target.with_context(|| format!("the `$ref` `{reference}` leads nowhere"))?;
        }
        bail!("the `$ref` {} leads in a circle", value["$ref"])
    }
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
        components.retain(|kind, _| !COMPONENTS.contains(&kind.as_str()));
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

/// The kinds of components (Components Object) that are judged where an operation uses them.
const COMPONENTS: [&str; 8] = [
    "examples",
    "headers",
    "links",
    "parameters",
    "requestBodies",
    "responses",
    "schemas",
    "securitySchemes",
];

/// The methods of a path, as OpenAPI writes them.
const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

fn without_defaults(mut object: Object) -> Object {
    let is_default = |keyword: &str, value: &Value| {
        let mut defaults = DEFAULTS.iter().filter(|(name, ..)| *name == keyword);
        defaults.any(|(_, default, _)| {
            let text = value.to_string();
            text == *default
        })
    };
    object.retain(|keyword, value| !value.is_null() && !is_default(keyword, value));
    object
}

/// Gives each number that is whole one spelling: 1.0 and 1 are one number.
fn numbers(value: &mut Value) {
    /// Above it, not every whole number has a float of its own.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Array(items) => items.iter_mut().for_each(numbers),
        Value::Object(members) => members.values_mut().for_each(numbers),
        Value::Number(number) => {
            let whole = number.as_f64().filter(|one| one.fract() == 0.0 && one.abs() < EXACT);
            if let Some(whole) = whole {
                #[expect(clippy::cast_possible_truncation, reason = "it is whole and small")]
                let whole = whole as i64;
                *value = Value::from(whole);
            }
        }
        _ => {}
    }
}

/// A place below another one.
pub fn step(place: &str, name: &str) -> String {
    format!("{place}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// A list in order, with each value once.
fn set(list: Value) -> Value {
    let Value::Array(items) = list else { return list };
    let items: BTreeMap<String, Value> =
        items.into_iter().map(|item| (item.to_string(), item)).collect();
    items.into_values().collect()
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
            schema = Value::Object(parts::over(outer, inner));
        }
        None
    }
}
