//! Lines of the client that progenitor does not make: the path of each operation, and the
//! members of each body.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use serde_json::{Value, json};

/// A constant for the path of each operation.
pub fn paths(document: &Value) -> Result<String> {
    let constant = |operation: Operation| {
        let name = operation.value["operationId"].as_str()?.to_ascii_uppercase();
        Some(format!("pub const {name}: &str = {:?};\n", operation.path))
    };
    Ok(operations(document)?.filter_map(constant).collect())
}

/// An operation of the document.
struct Operation<'a> {
    path: &'a str,
    value: &'a Value,
}

fn operations(document: &Value) -> Result<impl Iterator<Item = Operation<'_>>> {
    let paths = document["paths"].as_object().context("the document has no paths")?;
    Ok(paths.iter().flat_map(|(path, methods)| {
        let values = methods.as_object().into_iter().flat_map(|methods| methods.values());
        values.map(move |value| Operation { path, value })
    }))
}

/// The members of each schema that is the body of an operation.
pub fn bodies(document: &Value) -> Result<String> {
    let schemas = operations(document)?.filter_map(|operation| {
        let body = operation.value.pointer("/requestBody/content/application~1json/schema")?;
        body["$ref"].as_str()
    });
    let names = schemas.filter_map(|reference| reference.rsplit('/').next());
    names.collect::<BTreeSet<_>>().into_iter().map(|name| body(document, name)).collect()
}

/// The members of a schema.
fn body(document: &Value, name: &str) -> Result<String> {
    let schema = &document["components"]["schemas"][name];
    let members = schema["properties"].as_object();
    let members = members.with_context(|| format!("{name} is not an object"))?;
    let is_required = |member: &String| {
        schema["required"].as_array().is_some_and(|required| required.contains(&json!(member)))
    };
    let row = |(member, schema): (&String, &Value)| {
        let kind = kind(schema);
        let is_required = is_required(member);
        format!(
            "        Member {{ name: {member:?}, kind: Kind::{kind}, \
             is_required: {is_required} }},\n"
        )
    };
    let rows: String = members.iter().map(row).collect();
    Ok(format!(
        "impl Body for types::{name} {{\n    const NAME: &'static str = {name:?};\n    \
         const MEMBERS: &'static [Member] = &[\n{rows}    ];\n}}\n"
    ))
}

/// What a member holds, as `Kind` of the client calls it.
fn kind(schema: &Value) -> &'static str {
    match (schema["type"].as_str(), schema["format"].as_str()) {
        (Some("string"), None) if schema["enum"].is_null() && schema["pattern"].is_null() => "Text",
        (Some("string"), _) => "RestrictedText",
        (Some("integer"), Some("int32")) => "Integer32",
        (Some("integer"), Some("int64")) => "Integer64",
        (Some("boolean"), _) => "Boolean",
        _ => "Other",
    }
}
