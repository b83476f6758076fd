//! A document that can be compared: OpenAPI 3.0, with a version, and without loops of `$ref`.

use anyhow::{Context, Result, bail, ensure};
use semver::Version;
use serde_json::Value;

use crate::difference::differences;
use crate::place::{Place, members};

/// A document, and where it comes from.
pub struct Document {
    /// Its name, for people: "the merge base with origin/main (4553a8e)".
    pub name: String,
    /// Its value.
    pub json: Value,
    /// Its `info.version`.
    pub version: Version,
}

impl Document {
    /// Parses a document. An error names the document.
    pub fn parse(name: &str, text: &str) -> Result<Self> {
        let json = serde_json::from_str(text)
            .with_context(|| format!("the document of {name} is not JSON"))?;
        Self::new(name, json)
    }

    /// Takes a parsed document. An error names the document.
    pub fn new(name: &str, json: Value) -> Result<Self> {
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
    match (document["openapi"].as_str(), document["swagger"].as_str()) {
        (Some(openapi), _) if openapi.starts_with("3.0.") => {}
        (Some(openapi), _) => bail!("OpenAPI {openapi} is not supported: {EXPECTED}"),
        (None, Some(swagger)) => bail!("Swagger {swagger} is not supported: {EXPECTED}"),
        (None, None) => bail!("`openapi` is missing: {EXPECTED}"),
    }
    every_reference_ends(document, &Place::root(), document)?;
    let text = document["info"]["version"].as_str().context("info.version is missing")?;
    text.parse().with_context(|| format!("info.version {text} is no semantic version"))
}

fn every_reference_ends(document: &Value, place: &Place, value: &Value) -> Result<()> {
    if place.is_whole() {
        return Ok(());
    }
    ends(document, value, &mut Vec::new())?;
    for (step, member) in members(value) {
        every_reference_ends(document, &place.step(&step), member)?;
    }
    Ok(())
}

/// Fails if a `$ref` leads back to itself without a step into a member. The schema of a tree may
/// refer to itself in a member; a schema that is a reference to itself says nothing (JSON Schema
/// Core 2020-12, section 9.4.1).
fn ends<'a>(document: &'a Value, value: &'a Value, chain: &mut Vec<&'a str>) -> Result<()> {
    if let Some(reference) = value["$ref"].as_str() {
        ensure!(
            !chain.contains(&reference),
            "a `$ref` loop: {} -> {reference}",
            chain.join(" -> ")
        );
        chain.push(reference);
        if let Some(target) = reference.strip_prefix('#').and_then(|it| document.pointer(it)) {
            ends(document, target, chain)?;
        }
        chain.pop();
    }
    let lists = ["allOf", "anyOf", "oneOf"].map(|list| value[list].as_array());
    let mut parts = lists.into_iter().flatten().flatten().chain(value.get("not"));
    parts.try_for_each(|part| ends(document, part, chain))
}
