//! A document that can be compared: OpenAPI 3.0, with a version, in which every `$ref` can be
//! followed.

use anyhow::{Context, Result, ensure};
use semver::Version;
use serde::Serialize;
use serde_json::Value;

use crate::difference::differences;
use crate::json;
use crate::place::{Place, members, target};

/// A document, and where it comes from.
#[derive(Serialize)]
pub struct Document {
    /// Its name, for people: "HEAD~1 (4553a8e)".
    pub name: String,
    /// Its value.
    #[serde(skip)]
    pub json: Value,
    /// Its `info.version`.
    pub version: Version,
}

impl Document {
    /// Parses a document. An error names it.
    pub fn parse(name: &str, text: &str) -> Result<Self> {
        let not_json = || format!("the document of {name} is not JSON");
        let json = json::parse(text).with_context(not_json)?;
        let version = check(&json).with_context(|| format!("the document of {name}"))?;
        Ok(Self { name: name.to_owned(), json, version })
    }

    /// Whether no consumer can tell the two apart. The order of members does not count.
    #[must_use]
    pub fn means_the_same_as(&self, other: &Self) -> bool {
        differences(&self.json, &other.json).is_empty()
    }
}

const EXPECTED: &str = "OpenAPI 3.0.x is expected";

fn check(document: &Value) -> Result<Version> {
    let openapi = document.get("openapi");
    let openapi = openapi.with_context(|| format!("`openapi` is missing: {EXPECTED}"))?;
    let openapi = string("`openapi`", openapi)?;
    ensure!(openapi.starts_with("3.0."), "OpenAPI {openapi} is not supported: {EXPECTED}");
    every_reference_leads(document, &mut Place::default(), document)?;
    let version = document["info"].get("version").context("info.version is missing")?;
    let text = string("info.version", version)?;
    text.parse().with_context(|| format!("info.version {text} is no semantic version"))
}

fn string<'a>(name: &str, value: &'a Value) -> Result<&'a str> {
    let mend = || format!("{name} {value} is no string: write it in quotation marks");
    value.as_str().with_context(mend)
}

/// Fails if a `$ref` is not followed: a change behind it would seem harmless.
fn every_reference_leads(document: &Value, place: &mut Place, value: &Value) -> Result<()> {
    if place.is_whole() {
        return Ok(());
    }
    if let Some(reference) = value.get("$ref").and_then(Value::as_str) {
        target(document, reference)?;
    }
    members(value).into_iter().try_for_each(|(step, member)| {
        place.push(&step);
        let result = every_reference_leads(document, place, member);
        place.pop();
        result
    })
}
