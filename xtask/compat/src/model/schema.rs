//! The type of a schema in normal form.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use serde_json::{Number, Value, json};

use super::{Notes, Origin, Text, hash};
use crate::tree::Place;

/// A schema. Two schemas are equal if they say the same to programs.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Schema {
    /// The schema that says the rest, beside the notes.
    pub to: Option<Pointer>,
    /// `type`
    pub kind: Option<Text>,
    pub format: Option<Text>,
    /// `properties`
    pub members: BTreeMap<Text, Rc<Schema>>,
    pub required: BTreeSet<Text>,
    /// `additionalProperties`
    pub others: Others,
    pub items: Option<Rc<Schema>>,
    /// `enum` without null, each value as JSON
    pub values: Option<BTreeSet<String>>,
    /// `oneOf` or `anyOf`
    pub cases: Option<Box<Cases>>,
    /// `discriminator`
    pub tag: Option<Box<Tag>>,
    /// The parts of `allOf` that no single schema can say.
    pub demands: Vec<Rc<Schema>>,
    pub not: Option<Rc<Schema>>,
    /// The limits of numbers, lengths and counts, by keyword.
    pub limits: BTreeMap<&'static str, Limit>,
    pub notes: SchemaNotes,
    pub made: Made,
}

/// What a schema says beside the values that it allows. `nullable` is one of them, because a type
/// that is used in two places may be nullable in one of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SchemaNotes {
    pub null: Null,
    /// `default`, as JSON
    pub default: Option<Text>,
    pub is_read_only: bool,
    pub is_write_only: bool,
    /// The values of an open list, by their JSON.
    pub codes: BTreeMap<String, Code>,
    /// `xml`, as JSON
    pub xml: Option<Text>,
    pub rest: Notes,
}

/// What generators of code make of a schema. It does not count when two schemas are compared.
#[derive(Clone, Debug, Default)]
pub struct Made {
    /// The place of an inline schema that is merged there.
    pub at: Option<Pointer>,
    /// The name of the generated type of an inline schema.
    pub name: Option<Text>,
    /// The types of which the schema was merged, and whether it has keywords of its own.
    pub of: BTreeSet<Pointer>,
}

impl PartialEq for Made {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Made {}

impl PartialOrd for Made {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Made {
    fn cmp(&self, _: &Self) -> std::cmp::Ordering {
        std::cmp::Ordering::Equal
    }
}

impl Hash for Made {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// A JSON pointer to a schema. The hash does not depend on it, because the names of types do not
/// change what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pointer(Text);

impl Hash for Pointer {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl Pointer {
    /// The place of the named types.
    pub const TYPES: &str = "#/components/schemas";

    pub fn new(pointer: &str) -> Self {
        Self(pointer.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the pointer leads to a named schema, from which generators make a type.
    pub fn is_type(&self) -> bool {
        let name = self.short();
        name.len() < self.0.len() && !name.contains('/')
    }

    /// The name of a type, or any other pointer as it is.
    pub fn short(&self) -> &str {
        let name = self.0.strip_prefix(Self::TYPES).and_then(|rest| rest.strip_prefix('/'));
        name.unwrap_or(&self.0)
    }
}

/// Whether null is allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Null {
    #[default]
    No,
    Yes,
    /// The type allows null, but `enum` does not list it.
    Unlisted,
}

/// The members that have no name.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Others {
    #[default]
    Any,
    None,
    Only(Rc<Schema>),
}

/// A list of cases of which a value is one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cases {
    /// `oneOf` or `anyOf`
    pub keyword: &'static str,
    pub list: Vec<Case>,
}

/// A case, and the values of the discriminator that stand for it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Case {
    pub schema: Rc<Schema>,
    pub values: Option<BTreeSet<String>>,
}

/// A discriminator.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag {
    /// The member that tells which case a value is.
    pub member: Text,
    /// The types that a schema without cases stands for.
    pub children: Option<Vec<Case>>,
    pub origin: Origin,
    /// Whether the schema does not have the discriminator from a type of which it is made.
    pub is_own: bool,
}

/// A limit of numbers, lengths or counts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    Number(Number),
    /// A number that is not allowed itself.
    Exclusive(Number),
    /// Any other limit as JSON.
    Other(Text),
}

impl Limit {
    pub fn json(&self) -> Value {
        match self {
            Self::Number(number) => Value::Number(number.clone()),
            Self::Exclusive(number) => json!({ "exclusive": number }),
            Self::Other(json) => value(json),
        }
    }
}

impl PartialOrd for Limit {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Limit {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.json().to_string().cmp(&other.json().to_string())
    }
}

/// A value of an open list: where each list has it, and whether the request may be repeated.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code {
    /// In `x-extensible-enum`.
    pub listed: Option<Origin>,
    /// In `x-error-codes`, with `retryable` as JSON.
    pub row: Option<(Origin, Option<Text>)>,
}

impl SchemaNotes {
    /// The notes of a schema with those that stand beside it, which take precedence.
    pub fn over(self, inner: &Self) -> Self {
        let Self { null, default, is_read_only, is_write_only, codes, xml, rest } = self;
        let Notes { is_deprecated, extensions, unknown, origin } = rest;
        let Origin { place, mut words } = origin;
        words.extend(
            inner
                .rest
                .origin
                .words
                .iter()
                .filter(|(name, _)| words.iter().all(|(own, _)| own != name))
                .copied()
                .collect::<Vec<_>>(),
        );
        words.sort_unstable();
        let both = |own: BTreeMap<Text, Text>, inner: &BTreeMap<Text, Text>| {
            let mut both = inner.clone();
            both.extend(own);
            both
        };
        Self {
            null: if null == Null::No { inner.null } else { null },
            default: default.or_else(|| inner.default.clone()),
            is_read_only: is_read_only || inner.is_read_only,
            is_write_only: is_write_only || inner.is_write_only,
            codes: if codes.is_empty() { inner.codes.clone() } else { codes },
            xml: xml.or_else(|| inner.xml.clone()),
            rest: Notes {
                is_deprecated: is_deprecated || inner.rest.is_deprecated,
                extensions: both(extensions, &inner.rest.extensions),
                unknown: both(unknown, &inner.rest.unknown),
                origin: Origin { place, words },
            },
        }
    }
}

impl Schema {
    /// A schema that allows every value.
    pub fn any(place: Place) -> Self {
        let mut schema = Self::default();
        schema.notes.rest.origin.place = place;
        schema
    }

    pub fn place(&self) -> Place {
        self.notes.rest.origin.place
    }

    /// The reference that the schema consists of.
    pub fn pointer(&self) -> Option<&Pointer> {
        self.to.as_ref().or(self.made.at.as_ref())
    }

    /// The type that the schema refers to.
    pub fn type_name(&self) -> Option<&Pointer> {
        self.pointer().filter(|pointer| pointer.is_type())
    }

    /// What a value that is no schema consists of.
    pub fn no_schema(&self) -> Option<&Text> {
        self.notes.rest.unknown.get("")
    }

    /// The schema without its notes.
    pub fn bare(&self) -> Self {
        Self { notes: SchemaNotes::default(), made: Made::default(), ..self.clone() }
    }

    /// The schema as JSON of OpenAPI, without texts for people.
    pub fn json(&self) -> Value {
        let Self {
            to,
            kind,
            format,
            members,
            required,
            others,
            items,
            values,
            cases,
            tag,
            demands,
            not,
            limits,
            notes,
            made: _,
        } = self;
        let mut all = notes.json();
        if let Some(json) = self.no_schema() {
            return value(json);
        }
        let mut add = |name: &str, json: Option<Value>| {
            all.extend(json.map(|json| (name.to_owned(), json)));
        };
        add("$ref", to.as_ref().map(|pointer| json!(pointer.as_str())));
        add("type", kind.as_ref().map(|kind| json!(**kind)));
        add("format", format.as_ref().map(|format| json!(**format)));
        let properties = members.iter().map(|(name, one)| (name.to_string(), one.json()));
        let properties = (!members.is_empty()).then(|| Value::Object(properties.collect()));
        add("properties", properties);
        let names = required.iter().map(|name| json!(**name));
        add("required", (!required.is_empty()).then(|| names.collect()));
        match others {
            Others::Any => {}
            Others::None => add("additionalProperties", Some(json!(false))),
            Others::Only(schema) => add("additionalProperties", Some(schema.json())),
        }
        add("items", items.as_ref().map(|items| items.json()));
        let list = |list: &BTreeSet<String>| list.iter().map(|one| value(one)).collect();
        add("enum", values.as_ref().map(list));
        if let Some(cases) = cases {
            let Cases { keyword, list } = &**cases;
            add(keyword, Some(list.iter().map(|case| case.schema.json()).collect()));
        }
        add("discriminator", tag.as_ref().map(|tag| json!({ "propertyName": *tag.member })));
        let parts = || demands.iter().map(|part| part.json()).collect();
        add("allOf", (!demands.is_empty()).then(parts));
        add("not", not.as_ref().map(|not| not.json()));
        for (name, limit) in limits {
            add(name, Some(limit.json()));
        }
        Value::Object(all)
    }
}

impl SchemaNotes {
    fn json(&self) -> serde_json::Map<String, Value> {
        let Self { null, default, is_read_only, is_write_only, codes, xml, rest } = self;
        let Notes { is_deprecated, extensions, unknown, origin: _ } = rest;
        let mut all: serde_json::Map<String, Value> = extensions
            .iter()
            .chain(unknown)
            .map(|(name, json)| (name.to_string(), value(json)))
            .collect();
        let flags = [
            ("nullable", *null != Null::No),
            ("readOnly", *is_read_only),
            ("writeOnly", *is_write_only),
            ("deprecated", *is_deprecated),
        ];
        let flags = flags.into_iter().filter(|(_, is_set)| *is_set);
        all.extend(flags.map(|(name, _)| (name.to_owned(), json!(true))));
        all.extend(default.as_ref().map(|json| ("default".to_owned(), value(json))));
        all.extend(xml.as_ref().map(|json| ("xml".to_owned(), value(json))));
        let listed = || codes.keys().map(|code| value(code)).collect();
        let listed = (!codes.is_empty()).then(|| ("x-extensible-enum".to_owned(), listed()));
        all.extend(listed);
        all
    }
}

/// The value of a JSON text.
fn value(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_else(|_| json!(json))
}

/// Whether a schema allows every value.
pub fn is_any(schema: &Schema) -> bool {
    schema.notes.rest.unknown.is_empty() && schema.bare() == Schema::default()
}

/// The schemas that stand inside a schema.
fn inner(schema: &Schema) -> impl Iterator<Item = &Rc<Schema>> {
    let others = match &schema.others {
        Others::Only(others) => Some(others),
        Others::Any | Others::None => None,
    };
    let cases = schema.cases.iter().flat_map(|cases| &cases.list);
    let children = schema.tag.iter().filter_map(|tag| tag.children.as_ref()).flatten();
    let cases = cases.chain(children).map(|case| &case.schema);
    let all = schema.members.values().chain(others).chain(&schema.items).chain(&schema.demands);
    all.chain(&schema.not).chain(cases)
}

/// Adds the references inside a schema, in the order in which they stand.
pub fn references(schema: &Schema, all: &mut Vec<Pointer>) {
    all.extend(schema.to.clone());
    inner(schema).for_each(|schema| references(schema, all));
}

/// Adds the fingerprints of the texts inside a schema, and of the names of generated types.
pub fn words(schema: &Schema, all: &mut Vec<(&'static str, u64)>) {
    all.extend(&schema.notes.rest.origin.words);
    all.extend(schema.made.name.iter().map(|name| ("title", hash(name))));
    inner(schema).for_each(|schema| words(schema, all));
}
