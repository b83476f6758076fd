//! A schema in normal form.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use derive_where::derive_where;

use super::{Extras, Text};

/// A schema. Two schemas are equal if they allow the same values with the same annotations.
#[derive(Clone, Default)]
#[derive_where(Debug, PartialEq, Eq, PartialOrd, Ord)]
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
    /// `maximum`, `maxLength`, `pattern` and so on as JSON, by keyword.
    pub limits: BTreeMap<&'static str, Text>,
    /// `not`, and the unknown keywords, which may limit values.
    pub others: Extras,
    pub annotations: Annotations,
    #[derive_where(skip)]
    pub generated: Generated,
}

/// The keywords of a schema that do not limit values, and `nullable`. A place that uses a type may
/// add them to those of the type, as with `allOf: [{$ref: …}]` and `nullable` beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Annotations {
    pub nullable: Nullable,
    /// `default` as JSON
    pub default: Option<Text>,
    pub is_read_only: bool,
    pub is_write_only: bool,
    pub codes: Codes,
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

/// A JSON pointer to a schema.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pointer(Text);

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Nullable {
    #[default]
    No,
    Yes,
    /// `nullable` is true, but `enum` does not list null.
    Unlisted,
}

/// `additionalProperties`
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum AdditionalProperties {
    #[default]
    Any,
    None,
    Schema(Rc<Schema>),
}

/// `oneOf` or `anyOf`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Alternatives {
    /// `oneOf` or `anyOf`
    pub keyword: &'static str,
    pub list: Vec<Rc<Schema>>,
}

/// A discriminator.
#[derive(Clone)]
#[derive_where(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Discriminator {
    /// `propertyName`
    pub property: Text,
    /// The type that each value of the property selects. The values are JSON.
    pub types: BTreeMap<String, Pointer>,
    /// False if the schema inherits the discriminator from a type in its `allOf`.
    #[derive_where(skip)]
    pub is_own: bool,
}

/// The values of `x-extensible-enum` and `x-error-codes`, by keyword and JSON, with their
/// `retryable` as JSON.
pub type Codes = BTreeMap<(&'static str, String), Text>;

impl Annotations {
    /// Merges these annotations with those of a schema to which they were added. If both have a
    /// keyword, these take precedence.
    pub fn over(self, inner: &Self) -> Self {
        let Self { nullable, default, is_read_only, is_write_only, codes, extras } = self;
        let mut all_extras = inner.extras.clone();
        all_extras.extend(extras);
        Self {
            nullable: if nullable == Nullable::No { inner.nullable } else { nullable },
            default: default.or_else(|| inner.default.clone()),
            is_read_only: is_read_only || inner.is_read_only,
            is_write_only: is_write_only || inner.is_write_only,
            codes: if codes.is_empty() { inner.codes.clone() } else { codes },
            extras: all_extras,
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
    schema.bare() == Schema::default()
}
