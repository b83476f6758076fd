//! A document that can be compared: OpenAPI 3.0 in JSON.

use anyhow::{Context, Result, ensure};
use openapiv3::{OpenAPI, Schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::Model;
use crate::normalise::normalised;
use crate::unknown::{Unknown, unknown};

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
    #[serde(skip)]
    pub(crate) unknown: Unknown,
}

impl Document {
    /// Parses a document. An error names it.
    pub fn parse(name: &str, text: &str) -> Result<Self> {
        ensure!(
            !text.starts_with(BYTE_ORDER_MARK),
            "the document of {name} begins with a byte order mark: save it as UTF-8 without one \
             (RFC 8259, section 8.1)"
        );
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
        let (openapi, kept) = typed(&json).context("it is no OpenAPI 3.0")?;
        let written = serde_json::to_value(&openapi).context("it cannot be written back")?;
        let unknown = unknown(&json, &written);
        drop(written);
        let version = openapi.info.version.clone();
        let model = normalised(kept.as_ref().unwrap_or(&json), openapi)?;
        Ok(Self { name: name.to_owned(), json, version, model, unknown })
    }
}

/// The document with types and, if some schemas have keywords of the wrong type, the JSON without
/// those. They are unknown keywords: what is missing in the typed document is found later.
fn typed(json: &Value) -> serde_json::Result<(OpenAPI, Option<Value>)> {
    OpenAPI::deserialize(json).map(|typed| (typed, None)).or_else(|error| {
        let mut kept = json.clone();
        leave_out_wrong_keywords(&mut kept, Role::Other);
        OpenAPI::deserialize(&kept).map(|typed| (typed, Some(kept))).map_err(|_| error)
    })
}

/// What a value is.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    Schema,
    /// Schemas by name.
    Schemas,
    Other,
}

/// Removes each keyword with a value that no schema may have there, innermost first.
fn leave_out_wrong_keywords(value: &mut Value, role: Role) {
    if let Value::Array(items) = value {
        for item in items {
            leave_out_wrong_keywords(item, role);
        }
        return;
    }
    let Value::Object(members) = value else { return };
    for (name, member) in members.iter_mut() {
        let inner = match (role, name.as_str()) {
            (Role::Schemas, _) | (Role::Other, "schema") => Role::Schema,
            (Role::Schema, "properties") | (Role::Other, "schemas") => Role::Schemas,
            (Role::Schema, "default" | "enum" | "example") => continue,
            (role, _) => role,
        };
        leave_out_wrong_keywords(member, inner);
    }
    if role == Role::Schema {
        members.retain(|name, member| {
            let alone = serde_json::Map::from_iter([(name.clone(), member.clone())]);
            Schema::deserialize(&Value::Object(alone)).is_ok()
        });
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
    Ok(())
}
