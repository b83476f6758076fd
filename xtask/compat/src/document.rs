//! A document that can be compared: OpenAPI 3.0 in JSON.

use anyhow::{Context, Result, ensure};
use serde::Serialize;
use serde_json::Value;

use crate::normalise::{Model, normalised};

/// A document, and where it comes from.
#[derive(Serialize)]
pub struct Document {
    /// Its name, for people: "HEAD~1 (4553a8e)".
    pub name: String,
    /// Its value.
    #[serde(skip)]
    pub json: Value,
    /// Its `info.version`, as it is written.
    pub version: String,
    #[serde(skip)]
    pub(crate) model: Model,
}

impl Document {
    /// Parses a document. An error names it.
    pub fn parse(name: &str, text: &str) -> Result<Self> {
        // A parser may ignore it (RFC 8259, section 8.1).
        let text = text.trim_start_matches(BYTE_ORDER_MARK);
        let json = serde_json::from_str(text).with_context(|| {
            let form = if is_yaml(text) {
                "is YAML: convert it to JSON, as with `yq --output-format json`"
            } else {
                "is not JSON"
            };
            format!("the document of {name} {form}")
        })?;
        Self::of(name, json).with_context(|| format!("the document of {name}"))
    }

    fn of(name: &str, json: Value) -> Result<Self> {
        check(&json)?;
        // Some writers put a number there.
        let version = &json["info"]["version"];
        let version = version.as_str().map_or_else(|| version.to_string(), str::to_owned);
        let model = normalised(&json)?;
        Ok(Self { name: name.to_owned(), json, version, model })
    }
}

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Whether a text that is not JSON has the first member of a document in YAML.
fn is_yaml(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("openapi:") || line.starts_with("swagger:"))
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
    let openapi = member.as_str().with_context(|| format!("`openapi` {member} is no string"))?;
    ensure!(
        openapi.starts_with("3.0."),
        "OpenAPI {openapi} is not supported: {EXPECTED}; compare the documents with oasdiff"
    );
    ensure!(document["paths"].is_object(), "`paths` is no object: {EXPECTED}");
    Ok(())
}
