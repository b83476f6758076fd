//! A document that can be compared: OpenAPI 3.0, with a version, in which every `$ref` can be
//! followed to its end.

use std::collections::HashSet;

use anyhow::{Context, Result, bail, ensure};
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

/// The longest chain of references that is followed.
const LONGEST_CHAIN: usize = 100;

/// Fails if a `$ref` is not followed, or leads back to itself without a step into a member. The
/// schema of a tree may refer to itself in a member; a schema that is a reference to itself says
/// nothing (JSON Schema Core 2020-12, section 9.4.1).
fn every_reference_ends(document: &Value) -> Result<()> {
    let (mut found, mut done) = (Vec::new(), HashSet::new());
    every_reference(&Place::root(), document, &mut found);
    found.into_iter().try_for_each(|reference| follow(document, reference, 1, &mut done))
}

/// Follows a reference to all of its ends. `done` has those that were followed: each is followed once.
fn follow<'a>(
    document: &'a Value,
    reference: &'a str,
    chain: usize,
    done: &mut HashSet<&'a str>,
) -> Result<()> {
    if !done.contains(reference) {
        ensure!(
            chain <= LONGEST_CHAIN,
            "a `$ref` loop, or a chain of more than {LONGEST_CHAIN}: {reference}"
        );
        let mut next = Vec::new();
        references(target(document, reference)?.1, &mut next);
        next.into_iter().try_for_each(|reference| follow(document, reference, chain + 1, done))?;
        done.insert(reference);
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
