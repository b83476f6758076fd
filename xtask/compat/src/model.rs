//! What a document says, in one spelling: what `normalise` makes and `compare` compares.
//!
//! Two spellings that mean the same are equal here. Lists whose order means nothing are sets or
//! maps. Texts for people and extensions are kept apart, by the place of the object that has them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::ser::{Error, Serialize, Serializer};
use serde_json::Value;

/// A document.
#[derive(Default)]
pub struct Model {
    /// By path, with `{}` for each parameter, and method.
    pub operations: BTreeMap<(String, String), Operation>,
    /// Each schema that has a name or that a reference leads to, by its JSON pointer.
    pub schemas: BTreeMap<String, Schema>,
    /// A number for what each schema says, whatever its name is: see [`Model::take_prints`].
    pub prints: BTreeMap<String, u64>,
    /// The pointers of the schemas that a reference leads to.
    pub referenced: BTreeSet<String>,
    /// The texts for people, by the place of the object that has them.
    pub texts: BTreeMap<String, BTreeSet<String>>,
    /// The extensions that have no rule of their own, by place and name.
    pub extensions: BTreeMap<String, BTreeMap<String, BTreeSet<String>>>,
}

/// A value, and the place where the document says it: an operation may inherit it.
pub struct Placed<T> {
    pub place: String,
    pub value: T,
}

pub struct Operation {
    /// Its name for people: `POST /plants`.
    pub name: String,
    pub place: String,
    pub id: Option<String>,
    pub deprecated: bool,
    pub tags: BTreeSet<String>,
    /// By `in` and name; the parameters of the path by their number.
    pub parameters: BTreeMap<(&'static str, String), Field>,
    pub body: Option<Body>,
    /// By status: `200`, `4XX`, `default`.
    pub responses: BTreeMap<String, Response>,
    /// Any one of these sets of schemes lets a request in.
    pub security: Placed<BTreeSet<BTreeSet<String>>>,
    pub servers: Placed<BTreeSet<String>>,
    pub callbacks: Option<String>,
    /// `x-dropshot-pagination`.
    pub pagination: Option<String>,
    /// `x-dropshot-websocket`.
    pub websocket: Option<String>,
}

/// A parameter or a header of a response.
pub struct Field {
    pub place: String,
    pub name: String,
    pub required: bool,
    pub deprecated: bool,
    /// How a value becomes text: style, explode, media type.
    pub encoding: String,
    pub schema: Schema,
}

pub struct Body {
    pub place: String,
    pub required: bool,
    pub content: BTreeMap<String, Media>,
}

pub struct Media {
    pub schema: Schema,
    pub encoding: String,
}

pub struct Response {
    pub place: String,
    /// By name in lower case.
    pub headers: BTreeMap<String, Field>,
    pub content: BTreeMap<String, Media>,
    pub links: Option<String>,
}

#[expect(clippy::struct_excessive_bools, reason = "each is a keyword")]
/// A schema where it is used. It is serialized for people, as OpenAPI writes it.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Schema {
    #[serde(flatten)]
    pub shape: Shape,
    #[serde(skip_serializing_if = "is_false")]
    pub nullable: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub read_only: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub write_only: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub deprecated: bool,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "one")]
    pub default: Option<String>,
    /// Tells the parts of a list apart.
    #[serde(skip)]
    pub title: Option<String>,
}

/// What values a schema allows.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(untagged)]
pub enum Shape {
    /// Those of another schema.
    Reference {
        /// Its JSON pointer.
        #[serde(rename = "$ref")]
        pointer: String,
    },
    /// Those within these limits.
    Limits(Box<Limits>),
}

impl Default for Shape {
    fn default() -> Self {
        Self::Limits(Box::default())
    }
}

/// Everything that limits a value. Without any of them, every value is allowed.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// As JSON texts; `null` is not among them.
    #[serde(rename = "enum", skip_serializing_if = "Option::is_none", serialize_with = "list")]
    pub values: Option<BTreeSet<String>>,
    /// `pattern` and `multipleOf`: nobody can say which of two allows more.
    #[serde(flatten)]
    pub rules: BTreeMap<&'static str, String>,
    /// `minimum`, `maxLength` and so on, by name.
    #[serde(flatten)]
    pub bounds: BTreeMap<&'static str, Bound>,
    #[serde(rename = "properties", skip_serializing_if = "BTreeMap::is_empty")]
    pub members: BTreeMap<String, Schema>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub required: BTreeSet<String>,
    #[serde(rename = "additionalProperties", skip_serializing_if = "Others::is_open")]
    pub others: Others,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<Box<Schema>>,
    /// The parts of `oneOf` or `anyOf`, of which a value is one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub one_of: Vec<Schema>,
    /// Whether it is `anyOf`.
    #[serde(skip_serializing_if = "is_false")]
    pub any: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub all_of: Vec<Schema>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not: Option<Box<Schema>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discriminator: Option<String>,
    /// `x-extensible-enum` and `x-error-codes`: for each value of an open list whether the same
    /// request may succeed later, if the list says so.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub codes: BTreeMap<String, Option<bool>>,
}

/// A number that a value, a length or a count may not pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    pub number: f64,
    pub exclusive: bool,
}

/// `1`, or `"1 (exclusive)"`.
impl Serialize for Bound {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = self.number.to_string();
        match self.exclusive {
            true => serializer.collect_str(&format_args!("{text} (exclusive)")),
            false => parsed::<S::Error>(&text)?.serialize(serializer),
        }
    }
}

/// The value of a JSON text.
fn parsed<E: Error>(text: &str) -> Result<Value, E> {
    serde_json::from_str(text).map_err(E::custom)
}

#[expect(clippy::ref_option, reason = "serde gives a reference")]
fn list<S: Serializer>(texts: &Option<BTreeSet<String>>, serializer: S) -> Result<S::Ok, S::Error> {
    let values: Result<Vec<Value>, S::Error> =
        texts.iter().flatten().map(|text| parsed(text)).collect();
    values?.serialize(serializer)
}

#[expect(clippy::ref_option, reason = "serde gives a reference")]
fn one<S: Serializer>(text: &Option<String>, serializer: S) -> Result<S::Ok, S::Error> {
    text.as_deref().map(parsed::<S::Error>).transpose()?.serialize(serializer)
}

/// The members of an object that have no name in its schema.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[serde(untagged)]
pub enum Others {
    /// Any.
    #[default]
    Open,
    /// None.
    Closed(bool),
    /// Those whose values fit.
    Like(Box<Schema>),
}

impl Others {
    fn is_open(&self) -> bool {
        *self == Self::Open
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

impl Schema {
    /// A schema with these limits and nothing else.
    pub fn of(limits: Limits) -> Self {
        Self { shape: Shape::Limits(Box::new(limits)), ..Self::default() }
    }

    /// Its limits, unless it is a reference.
    pub fn limits(&self) -> Option<&Limits> {
        match &self.shape {
            Shape::Limits(limits) => Some(limits),
            Shape::Reference { .. } => None,
        }
    }

    /// The pointer that it is, if it is a reference.
    pub fn pointer(&self) -> Option<&str> {
        match &self.shape {
            Shape::Reference { pointer } => Some(pointer),
            Shape::Limits(_) => None,
        }
    }
}

impl Model {
    /// A schema that is no reference: the one to which a chain of references leads. None if the
    /// chain is a circle or has more than 100 links.
    pub fn resolved<'a>(&'a self, schema: &'a Schema) -> Option<&'a Schema> {
        let mut schema = schema;
        for _ in 0..LONGEST_CHAIN {
            match schema.pointer() {
                None => return Some(schema),
                Some(pointer) => schema = self.schemas.get(pointer)?,
            }
        }
        None
    }

    /// Gives each schema a number for what it says, and what the schemas within it say that are up
    /// to four references away. Two types with other names and the same number are most likely one.
    pub fn take_prints(&mut self) {
        for _ in 0..4 {
            let prints = self.schemas.iter().map(|(pointer, schema)| {
                let mut hasher = DefaultHasher::new();
                self.nameless(schema).hash(&mut hasher);
                (pointer.clone(), hasher.finish())
            });
            self.prints = prints.collect();
        }
    }

    /// A schema as JSON, with the number of each type in the place of its name.
    pub fn nameless(&self, schema: &Schema) -> String {
        const REFERENCE: &str = "\"$ref\":\"";
        let text = serde_json::to_string(schema).expect("a schema is JSON");
        let mut parts = text.split(REFERENCE);
        let mut nameless = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (pointer, rest) = part.split_once('"').unwrap_or((part, ""));
            let print = self.prints.get(pointer).copied().unwrap_or_default();
            let _ = write!(nameless, "{REFERENCE}{print}\"{rest}");
        }
        nameless
    }

    /// What a schema says beside its limits, with what the types say to which it leads.
    pub fn with_flags(&self, schema: &Schema) -> Schema {
        let mut all = Schema { shape: Shape::default(), ..schema.clone() };
        let mut schema = schema;
        for _ in 0..LONGEST_CHAIN {
            let Some(inner) = schema.pointer().and_then(|name| self.schemas.get(name)) else {
                break;
            };
            all.nullable |= inner.nullable;
            all.deprecated |= inner.deprecated;
            all.default = all.default.or_else(|| inner.default.clone());
            schema = inner;
        }
        all
    }
}

/// So many references are followed, one after the other, to a schema that is none.
const LONGEST_CHAIN: usize = 100;
