//! A document that can be compared: OpenAPI 3.0 in JSON or YAML.

use std::fmt;

use anyhow::{Context, Result, anyhow, ensure};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_saphyr::options::{DuplicateKeyPolicy, Options};
use serde_saphyr::{Spanned, from_str_with_options};

use crate::normalise::{Model, normalised};
use crate::pointer::steps;

/// A document and its origin.
#[derive(Serialize)]
pub struct Document {
    /// Its name for people: "HEAD~1 (4553a8e)".
    pub name: String,
    /// Its value.
    #[serde(skip)]
    pub json: Value,
    /// Its `info.version` as it is written.
    pub version: String,
    #[serde(skip)]
    text: String,
    #[serde(skip)]
    pub(crate) model: Model,
}

impl Document {
    /// Parses a document. An error names it.
    pub fn parse(name: &str, text: &str) -> Result<Self> {
        // A parser may ignore a byte order mark (RFC 8259, section 8.1).
        let text = text.trim_start_matches(BYTE_ORDER_MARK);
        Self::of(name, text).with_context(|| format!("the document of {name}"))
    }

    fn of(name: &str, text: &str) -> Result<Self> {
        let Unique(json) = if text.trim_start().starts_with('{') {
            serde_json::from_str(text).context("it is not JSON")?
        } else {
            let read = from_str_with_options(text, yaml());
            read.map_err(|error| anyhow!("it is not YAML: {error}"))?
        };
        check(&json)?;
        // Some documents contain a number here.
        let version = &json["info"]["version"];
        let version = version.as_str().map_or_else(|| version.to_string(), str::to_owned);
        let model = normalised(&json)?;
        Ok(Self { name: name.to_owned(), json, version, text: text.to_owned(), model })
    }

    /// The line on which the value of a JSON pointer begins, counted from 1.
    pub(crate) fn line(&self, pointer: &str) -> Option<u64> {
        let steps = steps(pointer);
        // JSON is YAML as well.
        let found =
            serde_saphyr::with_deserializer_from_str_with_options(&self.text, yaml(), |read| {
                Place(&steps).deserialize(read)
            });
        found.ok().flatten()
    }
}

const BYTE_ORDER_MARK: char = '\u{feff}';

/// YAML 1.2, in which `no` is a string. It may be nested as deeply as JSON.
fn yaml() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: 127,
            max_events: 50_000_000,
            max_nodes: 50_000_000,
            simple_key_max_lookahead: 1 << 20,
        },
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        strict_booleans: true,
        underscored_numbers_as_strings: true,
        with_snippet: false,
    }
}

/// A value without duplicate keys: a parser would keep one of two members and hide the other.
struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader).map(Self)
    }
}

struct Reader;

macro_rules! scalars {
    ($($visit:ident $kind:ty),*) => {
        $(fn $visit<E>(self, value: $kind) -> Result<Value, E> {
            Ok(Value::from(value))
        })*
    };
}

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    scalars!(visit_bool bool, visit_i64 i64, visit_u64 u64, visit_f64 f64, visit_str &str);

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(Unique(item)) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            if members.contains_key(&name) {
                return Err(A::Error::custom(format!("the key `{name}` is duplicated")));
            }
            let Unique(member) = map.next_value()?;
            members.insert(name, member);
        }
        Ok(Value::Object(members))
    }
}

/// Finds the line of the value to which these steps lead.
struct Place<'a>(&'a [String]);

impl<'de> DeserializeSeed<'de> for Place<'_> {
    type Value = Option<u64>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        if self.0.is_empty() {
            let found = Spanned::<IgnoredAny>::deserialize(deserializer)?;
            return Ok(Some(found.referenced.line()));
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Place<'_> {
    type Value = Option<u64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let wanted = self.0[0].parse().unwrap_or(usize::MAX);
        for _ in 0..wanted {
            if seq.next_element::<IgnoredAny>()?.is_none() {
                return Ok(None);
            }
        }
        let found = seq.next_element_seed(Place(&self.0[1..]))?.flatten();
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(found)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(name) = map.next_key::<String>()? {
            if name == self.0[0] {
                found = map.next_value_seed(Place(&self.0[1..]))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

const EXPECTED: &str = "OpenAPI 3.0.x is expected";

fn check(document: &Value) -> Result<()> {
    ensure!(
        document.get("swagger").is_none(),
        "Swagger {} is not supported: {EXPECTED}; convert it, as with `swagger2openapi`",
        document["swagger"]
    );
    let member = document.get("openapi");
    let member = member.with_context(|| format!("`openapi` is missing: {EXPECTED}"))?;
    let openapi = member.as_str().with_context(|| format!("`openapi` {member} is not a string"))?;
    ensure!(
        openapi.starts_with("3.0."),
        "OpenAPI {openapi} is not supported: {EXPECTED}; compare the documents with oasdiff"
    );
    ensure!(document["paths"].is_object(), "`paths` is not an object: {EXPECTED}");
    Ok(())
}
