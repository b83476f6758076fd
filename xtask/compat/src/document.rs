//! Parses a document: OpenAPI 3.0 in JSON or YAML.

use std::fmt;

use anyhow::{Context, Result, anyhow, ensure};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};
use serde_saphyr::Spanned;
use serde_saphyr::options::{DuplicateKeyPolicy, Options};

use crate::json::{steps, unified};
use crate::model::Model;
use crate::read;

/// An OpenAPI document that can be compared.
#[derive(Serialize)]
pub struct Document {
    /// The name of the document for people, such as a path or "HEAD~1 (4553a8e)".
    pub name: String,
    /// `info.version`, which need not be a semantic version.
    pub version: String,
    /// The source text, in JSON or YAML.
    #[serde(skip)]
    pub text: String,
    #[serde(skip)]
    pub(crate) json: Value,
    #[serde(skip)]
    pub(crate) model: Model,
}

impl Document {
    /// Parses a document. An error contains its name.
    pub fn parse(name: &str, text: String) -> Result<Self> {
        Self::of(name, text).with_context(|| format!("the document of {name}"))
    }

    fn of(name: &str, mut text: String) -> Result<Self> {
        // A parser may ignore a byte order mark (RFC 8259, section 8.1).
        if text.starts_with(BYTE_ORDER_MARK) {
            text.drain(..BYTE_ORDER_MARK.len_utf8());
        }
        let json = if text.trim_start().starts_with('{') {
            let mut json = serde_json::Deserializer::from_str(&text);
            let read = Reader.deserialize(&mut json);
            read.and_then(|read| json.end().map(|()| read)).context("it is not JSON")?
        } else {
            let read =
                serde_saphyr::with_deserializer_from_str_with_options(&text, yaml(), |yaml| {
                    Reader.deserialize(yaml)
                });
            read.map_err(|error| anyhow!("it is not YAML: {error}"))?
        };
        check(&json)?;
        // In some documents the version is a number.
        let version = &json["info"]["version"];
        let version = version.as_str().map_or_else(|| version.to_string(), str::to_owned);
        let model = read::model(&json)?;
        Ok(Self { name: name.to_owned(), version, text, json, model })
    }

    /// Whether two documents have the same values, also if one is JSON and the other one YAML.
    #[must_use]
    pub fn equals(&self, other: &Self) -> bool {
        unified(&self.json) == unified(&other.json)
    }

    /// The line on which the value at a JSON pointer begins, counted from 1.
    pub(crate) fn line(&self, pointer: &str) -> Option<u64> {
        let steps: Vec<String> = steps(pointer).collect();
        // JSON is a subset of YAML.
        let found =
            serde_saphyr::with_deserializer_from_str_with_options(&self.text, yaml(), |read| {
                Line(&steps).deserialize(read)
            });
        found.ok().flatten()
    }
}

const BYTE_ORDER_MARK: char = '\u{feff}';

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

/// Reads a value, and rejects duplicate keys: a parser would silently drop one of the two members.
struct Reader;

impl<'de> DeserializeSeed<'de> for Reader {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

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
        while let Some(item) = seq.next_element_seed(Reader)? {
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
            members.insert(name, map.next_value_seed(Reader)?);
        }
        Ok(Value::Object(members))
    }
}

/// Finds the line of the value at a JSON pointer, of which these are the reference tokens.
struct Line<'a>(&'a [String]);

impl<'de> DeserializeSeed<'de> for Line<'_> {
    type Value = Option<u64>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        if self.0.is_empty() {
            let found = Spanned::<IgnoredAny>::deserialize(deserializer)?;
            return Ok(Some(found.referenced.line()));
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Line<'_> {
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
        let found = seq.next_element_seed(Line(&self.0[1..]))?.flatten();
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(found)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(name) = map.next_key::<String>()? {
            if name == self.0[0] {
                found = map.next_value_seed(Line(&self.0[1..]))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
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
