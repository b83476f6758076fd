//! The type of a schema in normal form, and fingerprints that do not depend on the names of types.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use serde_json::Number;

use super::{Aside, Notes, Text, Whole};
use crate::json::Place;

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
    pub made: Aside<Made>,
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
    pub rest: Notes,
}

/// What generators of code make of a schema.
#[derive(Clone, Debug, Default)]
pub struct Made {
    /// The place of an inline schema that is merged there.
    pub at: Option<Pointer>,
    /// The name of the generated type of an inline schema.
    pub name: Option<Text>,
    /// The types of which the schema was merged, and whether it has keywords of its own.
    pub of: BTreeSet<Pointer>,
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
    pub place: Aside<Place>,
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
    /// The limit as JSON.
    pub fn json(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Exclusive(number) => format!("{{\"exclusive\":{number}}}"),
            Self::Other(json) => json.to_string(),
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
        self.json().cmp(&other.json())
    }
}

/// A value of an open list.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code {
    /// Its row, or else where it is listed.
    pub place: Aside<Place>,
    /// Whether it is in `x-extensible-enum`.
    pub is_listed: bool,
    /// `retryable` as JSON, if it is in `x-error-codes`.
    pub row: Option<Text>,
}

impl SchemaNotes {
    /// The notes of a schema with those that stand beside it, which take precedence.
    pub fn over(self, inner: &Self) -> Self {
        let Self { null, default, is_read_only, is_write_only, codes, rest } = self;
        let Notes { place, whole, unknown } = rest;
        let both = |own: BTreeMap<Text, Whole>, inner: &BTreeMap<Text, Whole>| {
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
            rest: Notes {
                place,
                whole: both(whole, &inner.rest.whole),
                unknown: both(unknown, &inner.rest.unknown),
            },
        }
    }
}

impl Schema {
    /// A schema that allows every value.
    pub fn any(place: Place) -> Self {
        Self::default().at(place)
    }

    /// The same schema at another place.
    pub fn at(mut self, place: Place) -> Self {
        self.notes.rest.place = Aside(place);
        self
    }

    pub fn place(&self) -> Place {
        self.notes.rest.place.0.clone()
    }

    /// The reference that the schema consists of.
    pub fn pointer(&self) -> Option<&Pointer> {
        self.to.as_ref().or(self.made.0.at.as_ref())
    }

    /// The type that the schema refers to.
    pub fn type_name(&self) -> Option<&Pointer> {
        self.pointer().filter(|pointer| pointer.is_type())
    }

    /// Whether it is a value that is no schema.
    pub fn is_no_schema(&self) -> bool {
        self.notes.rest.unknown.contains_key("")
    }

    /// The schema without its notes.
    pub fn bare(&self) -> Self {
        Self { notes: SchemaNotes::default(), made: Aside::default(), ..self.clone() }
    }
}

/// Whether a schema allows every value.
pub fn is_any(schema: &Schema) -> bool {
    schema.notes.rest.unknown.is_empty() && schema.bare() == Schema::default()
}

/// Adds the references inside a schema, in the order in which they stand.
pub fn references(schema: &Schema, all: &mut Vec<Pointer>) {
    all.extend(schema.to.clone());
    let others = match &schema.others {
        Others::Only(others) => Some(others),
        Others::Any | Others::None => None,
    };
    let cases = schema.cases.iter().flat_map(|cases| &cases.list);
    let children = schema.tag.iter().filter_map(|tag| tag.children.as_ref()).flatten();
    let cases = cases.chain(children).map(|case| &case.schema);
    let parts = schema.members.values().chain(others).chain(&schema.items).chain(&schema.demands);
    parts.chain(&schema.not).chain(cases).for_each(|schema| references(schema, all));
}

/// A fingerprint of each schema. Two types with other names and the same fingerprint are most
/// likely one type.
#[derive(Default)]
pub struct Prints(BTreeMap<Pointer, u64>);

impl Prints {
    /// Computes the fingerprints of all schemas. They cover what is up to four references away.
    pub fn of(schemas: &BTreeMap<Pointer, Rc<Schema>>) -> Self {
        let own: Vec<_> = schemas
            .iter()
            .map(|(pointer, schema)| {
                let mut all = Vec::new();
                references(schema, &mut all);
                (pointer, hash(&**schema), all)
            })
            .collect();
        let mut prints = Self::default();
        for _ in 0..4 {
            let next = own.iter().map(|(pointer, own, references)| {
                ((*pointer).clone(), prints.with(*own, references))
            });
            prints = Self(next.collect());
        }
        prints
    }

    /// The fingerprint of any schema of the document.
    pub fn of_schema(&self, schema: &Schema) -> u64 {
        let mut all = Vec::new();
        references(schema, &mut all);
        self.with(hash(schema), &all)
    }

    /// The sum of the fingerprints does not depend on the order of lists.
    fn with(&self, own: u64, references: &[Pointer]) -> u64 {
        let all = references.iter().filter_map(|pointer| self.0.get(pointer));
        hash(&(own, all.fold(0_u64, |sum, print| sum.wrapping_add(*print))))
    }
}

/// The fingerprint of a value.
pub fn hash(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
