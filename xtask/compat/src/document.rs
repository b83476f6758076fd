//! Parses a document: OpenAPI 3.0 in JSON or YAML.

use std::fmt;

use anyhow::{Context, Result, anyhow, ensure};
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};
use serde_saphyr::options::{DuplicateKeyPolicy, Options};

use crate::json::unified;
use crate::model::Model;
use crate::read;

/// An OpenAPI document that can be compared.
#[derive(Serialize)]
pub struct Document {
    /// The name of the document for people, such as a path or "HEAD~1 (4553a8e)".
    pub name: String,
    /// `info.version`, which need not be a semantic version.
    pub version: String,
    /// The whole document.
    #[serde(skip)]
    pub json: Value,
    #[serde(skip)]
    pub(crate) model: Model,
}

impl Document {
    /// Parses a document. An error contains its name.
    pub fn parse(name: &str, text: &str) -> Result<Self> {
        Self::of(name, text).with_context(|| format!("the document of {name}"))
    }

    fn of(name: &str, text: &str) -> Result<Self> {
        // A parser may ignore a byte order mark (RFC 8259, section 8.1).
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let UniqueKeys(json) = if text.trim_start().starts_with('{') {
            serde_json::from_str(text).context("it is not JSON")?
        } else {
            let read = serde_saphyr::from_str_with_options(text, yaml());
            read.map_err(|error| anyhow!("it is not YAML: {error}"))?
        };
        check(&json)?;
        // In some documents the version is a number.
        let version = &json["info"]["version"];
        let version = version.as_str().map_or_else(|| version.to_string(), str::to_owned);
        let model = read::model(&json)?;
        Ok(Self { name: name.to_owned(), version, json, model })
    }

    /// Whether two documents have the same values, also if one is JSON and the other one YAML.
    #[must_use]
    pub fn equals(&self, other: &Self) -> bool {
        unified(&self.json) == unified(&other.json)
    }
}

/// YAML 1.2, in which `no` is a string, with the depth limit of serde_json.
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

/// A value without duplicate keys. A parser would silently drop one of the two members.
struct UniqueKeys(Value);

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader).map(Self)
    }
}

/// Reads the value of [`UniqueKeys`].
struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.into()))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(UniqueKeys(item)) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = map.next_key::<Option<String>>()? {
            let Some(name) = name else {
                return Err(A::Error::custom("a key is null: write a name, or quote it"));
            };
            if members.contains_key(&name) {
                return Err(A::Error::custom(format!("the key `{name}` is duplicated")));
            }
            let UniqueKeys(value) = map.next_value()?;
            members.insert(name, value);
        }
        Ok(Value::Object(members))
    }
}

const EXPECTED: &str = "OpenAPI 3.0.x is expected";

fn check(document: &Value) -> Result<()> {
    if let Some(swagger) = document.get("swagger") {
        return Err(anyhow!(
            "Swagger {swagger} is not supported: {EXPECTED}; convert it, as with `swagger2openapi`"
        ));
    }
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
