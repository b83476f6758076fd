//! A schema in normal form, and fingerprints that do not depend on the names of schemas.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use derive_where::derive_where;

use super::{Extras, Text, Whole};

/// A schema. Two schemas are equal if they allow the same values with the same annotations.
#[derive(Clone, Default)]
#[derive_where(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Schema {
    /// The target of `$ref`. Beside it, only `annotations` and `generated` have values.
    pub reference: Option<Pointer>,
    /// `type`
    pub type_: Option<Text>,
    pub format: Option<Text>,
    pub properties: BTreeMap<Text, Rc<Schema>>,
    pub required: BTreeSet<Text>,
    pub additional_properties: AdditionalProperties,
    pub items: Option<Rc<Schema>>,
    /// `enum` without null, each value as JSON
    pub enumeration: Option<BTreeSet<String>>,
    /// `oneOf` or `anyOf`
    pub alternatives: Option<Box<Alternatives>>,
    pub discriminator: Option<Box<Discriminator>>,
    /// The parts of `allOf` that could not be merged into this schema.
    pub all_of: Vec<Rc<Schema>>,
    pub not: Option<Rc<Schema>>,
    /// `maximum`, `maxLength`, `pattern` and so on as JSON, by keyword.
    pub limits: BTreeMap<&'static str, Text>,
    pub annotations: Annotations,
    #[derive_where(skip)]
    pub generated: Generated,
}

/// The keywords of a schema that do not limit values, and `nullable`. A place that uses a type may
/// add them to those of the type, as with `allOf: [{$ref: …}]` and `nullable` beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Annotations {
    pub nullable: Nullable,
    /// `default` as JSON
    pub default: Option<Text>,
    pub is_read_only: bool,
    pub is_write_only: bool,
    /// The values of `x-extensible-enum` and `x-error-codes`, by their JSON.
    pub codes: BTreeMap<String, Code>,
    pub extras: Extras,
}

/// What a code generator makes of a schema.
#[derive(Clone, Debug, Default)]
pub struct Generated {
    /// The key of this inline schema in `Model::schemas`, where its `allOf` is merged.
    pub merged_at: Option<Pointer>,
    /// The `title` of an inline schema, if generators name a type after it.
    pub title: Option<Text>,
    /// Where the keywords of a merged `allOf` come from; empty if nothing was merged.
    pub origins: Origins,
}

/// The types that were merged into a schema, with their properties. `None` stands for the schema
/// itself and inline parts.
pub type Origins = BTreeMap<Option<Pointer>, BTreeSet<Text>>;

/// A JSON pointer to a schema. It is not hashed, so equal fingerprints do not need equal names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[derive_where(Hash)]
pub struct Pointer(#[derive_where(skip)] Text);

impl Pointer {
    /// The pointer to the named schemas.
    pub const SCHEMAS: &str = "#/components/schemas";

    pub fn new(pointer: &str) -> Self {
        Self(pointer.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is a named schema in `components/schemas`. Generators make a type of it.
    pub fn is_component(&self) -> bool {
        let name = self.short();
        name.len() < self.0.len() && !name.contains('/')
    }

    /// The pointer without the prefix `#/components/schemas/`.
    pub fn short(&self) -> &str {
        let name = self.0.strip_prefix(Self::SCHEMAS).and_then(|rest| rest.strip_prefix('/'));
        name.unwrap_or(&self.0)
    }
}

/// Whether null is allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Nullable {
    #[default]
    No,
    Yes,
    /// `nullable` is true, but `enum` does not list null.
    Unlisted,
}

/// `additionalProperties`
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AdditionalProperties {
    #[default]
    Any,
    None,
    Schema(Rc<Schema>),
}

/// `oneOf` or `anyOf`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Alternatives {
    /// `oneOf` or `anyOf`
    pub keyword: &'static str,
    pub list: Vec<Rc<Schema>>,
}

/// A discriminator.
#[derive(Clone)]
#[derive_where(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Discriminator {
    /// `propertyName`
    pub property: Text,
    /// The type that each value of the property selects. The values are JSON.
    pub types: BTreeMap<String, Pointer>,
    /// False if the schema inherits the discriminator from a type in its `allOf`.
    #[derive_where(skip)]
    pub is_own: bool,
}

/// A value of `x-extensible-enum` or `x-error-codes`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code {
    /// Whether it is in `x-extensible-enum`.
    pub is_listed: bool,
    /// Its `retryable` as JSON, if it is in `x-error-codes`.
    pub retryable: Option<Text>,
}

impl Annotations {
    /// Merges these annotations with those of a schema to which they were added. If both have a
    /// keyword, these take precedence.
    pub fn over(self, inner: &Self) -> Self {
        let Self { nullable, default, is_read_only, is_write_only, codes, extras } = self;
        let Extras { whole, unknown } = extras;
        let both = |own: BTreeMap<Text, Whole>, inner: &BTreeMap<Text, Whole>| {
            let mut both = inner.clone();
            both.extend(own);
            both
        };
        Self {
            nullable: if nullable == Nullable::No { inner.nullable } else { nullable },
            default: default.or_else(|| inner.default.clone()),
            is_read_only: is_read_only || inner.is_read_only,
            is_write_only: is_write_only || inner.is_write_only,
            codes: if codes.is_empty() { inner.codes.clone() } else { codes },
            extras: Extras {
                whole: both(whole, &inner.extras.whole),
                unknown: both(unknown, &inner.extras.unknown),
            },
        }
    }
}

impl Schema {
    /// The key in `Model::schemas` of the schema to which this one refers.
    pub fn pointer(&self) -> Option<&Pointer> {
        self.reference.as_ref().or(self.generated.merged_at.as_ref())
    }

    /// The named schema to which this one is a reference.
    pub fn type_name(&self) -> Option<&Pointer> {
        self.pointer().filter(|pointer| pointer.is_component())
    }

    /// The schema without its annotations.
    pub fn bare(&self) -> Self {
        Self {
            annotations: Annotations::default(),
            generated: Generated::default(),
            ..self.clone()
        }
    }
}

/// Whether a schema allows every value.
pub fn is_any(schema: &Schema) -> bool {
    schema.annotations.extras.unknown.is_empty() && schema.bare() == Schema::default()
}

/// Collects the references inside a schema, in the order of the fields.
pub fn references(schema: &Schema, all: &mut Vec<Pointer>) {
    all.extend(schema.reference.clone());
    all.extend(schema.discriminator.iter().flat_map(|one| one.types.values().cloned()));
    let additional = match &schema.additional_properties {
        AdditionalProperties::Schema(schema) => Some(schema),
        AdditionalProperties::Any | AdditionalProperties::None => None,
    };
    let alternatives = schema.alternatives.iter().flat_map(|all| &all.list);
    let properties = schema.properties.values().chain(additional);
    let parts = properties.chain(&schema.items).chain(&schema.all_of).chain(&schema.not);
    parts.chain(alternatives).for_each(|schema| references(schema, all));
}

/// A fingerprint of each schema. Two schemas with different names and the same fingerprint most
/// likely are one schema that was renamed.
#[derive(Default)]
pub struct Fingerprints(BTreeMap<Pointer, u64>);

impl Fingerprints {
    /// Computes the fingerprints of all schemas. A fingerprint covers the schemas that are up to
    /// four references away.
    pub fn of(schemas: &BTreeMap<Pointer, Rc<Schema>>) -> Self {
        let own: Vec<_> = schemas
            .iter()
            .map(|(pointer, schema)| {
                let mut all = Vec::new();
                references(schema, &mut all);
                (pointer, hash(&**schema), all)
            })
            .collect();
        let mut fingerprints = Self::default();
        for _ in 0..4 {
            let next = own.iter().map(|(pointer, own, references)| {
                ((*pointer).clone(), fingerprints.with(*own, references))
            });
            fingerprints = Self(next.collect());
        }
        fingerprints
    }

    /// The fingerprint of any schema of the document, also of an inline one.
    pub fn of_schema(&self, schema: &Schema) -> u64 {
        let mut all = Vec::new();
        references(schema, &mut all);
        self.with(hash(schema), &all)
    }

    /// Adds the fingerprints of references to a hash. The order of the references does not matter.
    fn with(&self, own: u64, references: &[Pointer]) -> u64 {
        let all = references.iter().filter_map(|pointer| self.0.get(pointer));
        hash(&(own, all.fold(0_u64, |sum, one| sum.wrapping_add(*one))))
    }
}

/// The hash of a value.
fn hash(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
