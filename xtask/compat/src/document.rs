//! A document that can be compared: OpenAPI 3.0, with a version, in which every `$ref` can be
//! followed to its end.

use std::collections::HashSet;

use anyhow::{Context, Result, bail, ensure};
use indexmap::IndexSet;
use semver::Version;
use serde_json::Value;

use crate::difference::differences;
use crate::place::{Place, members, target};
use crate::{json, yaml};

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
    /// Parses a document: JSON if its first character is a brace, else YAML. An error names the
    /// document.
    pub fn parse(name: &str, text: &str) -> Result<Self> {
        let json = if text.trim_start().starts_with('{') {
            json::parse(text).with_context(|| format!("the document of {name} is not JSON"))?
        } else {
            yaml::parse(text)
                .with_context(|| format!("the document of {name} is neither JSON nor YAML"))?
                .json
        };
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
    match (document.get("openapi"), document["swagger"].as_str()) {
        (Some(openapi), _) => {
            let openapi = string("`openapi`", openapi)?;
            ensure!(openapi.starts_with("3.0."), "OpenAPI {openapi} is not supported: {EXPECTED}");
        }
        (None, Some(swagger)) => bail!("Swagger {swagger} is not supported: {EXPECTED}"),
        (None, None) => bail!("`openapi` is missing: {EXPECTED}"),
    }
    every_reference_ends(document)?;
    let version = document["info"].get("version").context("info.version is missing")?;
    let text = string("info.version", version)?;
    text.parse().with_context(|| format!("info.version {text} is no semantic version"))
}

fn string<'a>(name: &str, value: &'a Value) -> Result<&'a str> {
    let mend = || format!("{name} {value} is no string: write it in quotation marks");
    value.as_str().with_context(mend)
}

/// Fails if a `$ref` is not followed, or leads back to itself without a step into a member. The
/// schema of a tree may refer to itself in a member; a schema that is a reference to itself says
/// nothing (JSON Schema Core 2020-12, section 9.4.1).
///
/// Each reference is followed once, and without recursion: a chain may be as long as the document.
fn every_reference_ends(document: &Value) -> Result<()> {
    let mut to_follow = Vec::new();
    every_reference(&Place::root(), document, &mut to_follow);
    let (mut chain, mut done) = (IndexSet::new(), HashSet::new());
    let mut steps: Vec<_> = to_follow.into_iter().rev().map(Some).collect();
    while let Some(step) = steps.pop() {
        let Some(reference) = step else {
            // All that the last reference of the chain leads to was followed.
            done.extend(chain.pop());
            continue;
        };
        if done.contains(reference) {
            continue;
        }
        ensure!(chain.insert(reference), "a `$ref` loop: {}", told(&chain, reference));
        steps.push(None);
        let (_, target) = target(document, reference)?;
        let mut next = Vec::new();
        references(target, &mut next);
        steps.extend(next.into_iter().map(Some));
    }
    Ok(())
}

/// The references of a schema that no step into a member leads to.
fn references<'a>(schema: &'a Value, found: &mut Vec<&'a str>) {
    found.extend(schema["$ref"].as_str());
    let lists = ["allOf", "anyOf", "oneOf"].map(|list| schema[list].as_array());
    let parts = lists.into_iter().flatten().flatten().chain(schema.get("not"));
    parts.for_each(|part| references(part, found));
}

fn every_reference<'a>(place: &Place, value: &'a Value, found: &mut Vec<&'a str>) {
    if !place.is_whole() {
        found.extend(value["$ref"].as_str());
        for (step, member) in members(value) {
            every_reference(&place.step(&step), member, found);
        }
    }
}

/// The first references of a chain, and the one that leads back.
fn told(chain: &IndexSet<&str>, reference: &str) -> String {
    const FIRST: usize = 5;
    let mut links: Vec<_> = chain.iter().take(FIRST).copied().collect();
    links.extend((chain.len() > FIRST).then_some("…"));
    links.push(reference);
    links.join(" -> ")
}
