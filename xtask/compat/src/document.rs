//! A document that can be compared: OpenAPI 3.0, with a version, in which every `$ref` can be
//! followed.

use anyhow::{Context, Result, ensure};
use semver::Version;
use serde::Serialize;
use serde_json::Value;

use crate::difference::differences;
use crate::json;
use crate::members::members;
use crate::place::Place;
use crate::reference::target;

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
        ensure!(
            !text.starts_with(BYTE_ORDER_MARK),
            "the document of {name} begins with a byte order mark: save it as UTF-8 without one \
             (RFC 8259, section 8.1)"
        );
        let json = json::parse(text).with_context(|| {
            let form = if is_yaml(text) {
                "is YAML: convert it to JSON, as with `yq --output-format json`"
            } else {
                "is not JSON"
            };
            format!("the document of {name} {form}")
        })?;
        let version = check(&json).with_context(|| format!("the document of {name}"))?;
        Ok(Self { name: name.to_owned(), json, version })
    }

    /// Whether no consumer can tell the two apart. The order of members does not count.
    #[must_use]
    pub fn means_the_same_as(&self, other: &Self) -> bool {
        differences(&self.json, &other.json).is_empty()
    }
}

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Whether a text that is not JSON has the first member of a document in YAML.
fn is_yaml(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("openapi:") || line.starts_with("swagger:"))
}

const EXPECTED: &str = "OpenAPI 3.0.x is expected";

/// What to do about a document of another version.
const INSTEAD: &str = "convert it to OpenAPI 3.0, or compare the documents with oasdiff";

fn check(document: &Value) -> Result<Version> {
    let member = document.get("openapi");
    let member = member.with_context(|| format!("`openapi` is missing: {EXPECTED}"))?;
    let openapi = string("`openapi`", member)?;
    ensure!(
        openapi.starts_with("3.0."),
        "OpenAPI {openapi} is not supported: {EXPECTED}; {INSTEAD}"
    );
    every_reference_leads(document, &mut Place::default(), document)?;
    let version = document["info"].get("version").context("info.version is missing")?;
    let text = string("info.version", version)?;
    text.parse().with_context(|| format!("info.version {text} is no semantic version"))
}

fn string<'a>(name: &str, value: &'a Value) -> Result<&'a str> {
    let no_string = || format!("{name} {value} is no string: write it in quotation marks");
    value.as_str().with_context(no_string)
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
