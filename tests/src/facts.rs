//! What the OpenAPI document must say. It is written by hand, from the specification: nothing here
//! is generated, and nothing here uses the code of the service.
//!
//! Texts and response headers may be anything, because the specification leaves them open. The
//! values of `error` are this contract's own, and clients decide by them, so they are here too.
//! Everything else is exact: the document must not have what the specification does not show.

use serde_json::{Value, json};

/// Stands for a text that is not blank.
const TEXT: &str = "<text>";
/// Stands for an integer of that format.
const INT32: &str = "<int32>";
const INT64: &str = "<int64>";
/// Stands for any value.
const ANY: &str = "<any>";

/// The values of `error`, and whether the same plant may be accepted later.
const ERRORS: [(u16, bool); 9] = [
    (400, false),
    (401, false),
    (408, true),
    (409, false),
    (413, false),
    (415, false),
    (429, true),
    (500, true),
    (503, true),
];

/// The document of the specification. A member whose name ends in `?` may be absent. Others than
/// these may be in an object that has the member `*`.
fn specification() -> Value {
    json!({
        "openapi": "3.0.3",
        "info": {
            "title": "Plant Store",
            "description": TEXT,
            "version": "1.0.0",
            "license": { "name": "MIT", "*": ANY },
            "*": ANY,
        },
        "externalDocs?": ANY,
        "servers": [{
            "url": "{base_url}",
            "variables": {
                "base_url": { "default": "http://localhost:8080", "description?": ANY },
            },
            "*": ANY,
        }],
        "tags": [{ "name": "plants", "description": TEXT, "*": ANY }],
        "security": [{ "bearerAuth": [] }],
        "paths": {
            "/plants": {
                "post": operation("Plant", &json!({
                    "requestBody": body(TEXT, "NewPlant", &json!({ "required": true })),
                })),
                "summary?": ANY,
                "description?": ANY,
            },
        },
        "components": {
            "securitySchemes": {
                "bearerAuth": { "type": "http", "scheme": "bearer", "description?": ANY },
            },
            "schemas": {
                "Error": schema(
                    &json!({ "error": error(), "message": string() }),
                    &["error", "message"],
                    &json!({ "error": INT32, "message": TEXT }),
                ),
                "NewPlant": schema(
                    &json!({ "id": integer("int64"), "name": string(), "tag": string() }),
                    &["id", "name"],
                    &json!({ "id": INT64, "name": TEXT, "tag?": TEXT }),
                ),
                "Plant": schema(
                    &json!({ "name": string(), "tag": string() }),
                    &["name"],
                    &json!({ "name": TEXT, "tag?": TEXT }),
                ),
            },
        },
    })
}

/// An operation whose 200 has that type, and what else it has.
fn operation(answer: &str, more: &Value) -> Value {
    let success = format!("{answer} response");
    let operation = json!({
        "tags": ["plants"],
        "summary": TEXT,
        "description": TEXT,
        "operationId": TEXT,
        "responses": {
            "200": body(&success, answer, &json!({ "headers?": ANY })),
            "400": refusal(),
        },
    });
    joined(operation, more)
}

/// A body of one content type, which has that one type.
fn body(description: &str, schema: &str, more: &Value) -> Value {
    let schema = json!({ "$ref": format!("#/components/schemas/{schema}") });
    let content = json!({ "schema": schema, "example?": ANY, "examples?": ANY });
    let body = json!({ "description": description, "content": { "application/json": content } });
    joined(body, more)
}

/// It has a whole answer as an example of each value of `error`, by its number.
fn refusal() -> Value {
    let example = |(error, _): (u16, bool)| {
        let answer = json!({ "error": error, "message": TEXT });
        (error.to_string(), json!({ "value": answer, "*": ANY }))
    };
    let mut refusal = body("Unexpected error", "Error", &json!({ "headers?": ANY }));
    let examples = ERRORS.map(example).into_iter().collect();
    refusal["content"]["application/json"]["examples"] = examples;
    refusal
}

/// An object without a bound.
fn schema(properties: &Value, required: &[&str], example: &Value) -> Value {
    let described = json!({ "description": TEXT, "example": example, "title?": ANY });
    joined(json!({ "type": "object", "properties": properties, "required": required }), &described)
}

fn string() -> Value {
    json!({ "type": "string", "description?": ANY, "example?": ANY, "title?": ANY })
}

fn integer(format: &str) -> Value {
    joined(string(), &json!({ "type": "integer", "format": format }))
}

fn error() -> Value {
    let code =
        |(error, retryable)| json!({ "error": error, "meaning": TEXT, "retryable": retryable });
    let values = json!({
        "x-extensible-enum": ERRORS.map(|(error, _)| error),
        "x-error-codes": ERRORS.map(code),
    });
    joined(integer("int32"), &values)
}

fn joined(mut object: Value, more: &Value) -> Value {
    for (name, value) in more.as_object().expect("an object") {
        object[name] = value.clone();
    }
    object
}

/// Where a document is not what the specification says: a line for each place, with what is there
/// and what the specification has.
pub fn deviations(document: &Value) -> Vec<String> {
    let mut deviations = Vec::new();
    compare("", &specification(), document, &mut deviations);
    deviations
}

fn compare(path: &str, expected: &Value, found: &Value, deviations: &mut Vec<String>) {
    let holds = match (expected, found) {
        (Value::Object(expected), Value::Object(members)) => {
            for (name, expected) in expected.iter().filter(|(name, _)| *name != "*") {
                let optional = name.strip_suffix('?');
                match members.get(optional.unwrap_or(name)) {
                    Some(found) => compare(&format!("{path}/{name}"), expected, found, deviations),
                    None if optional.is_some() => {}
                    None => deviations.push(format!("{path}/{name}: the document lacks it")),
                }
            }
            let is_expected = |name: &String| {
                [name, &format!("{name}?"), "*"].iter().any(|name| expected.contains_key(*name))
            };
            for name in members.keys().filter(|name| !is_expected(name)) {
                deviations.push(format!("{path}/{name}: the specification does not have it"));
            }
            true
        }
        (Value::Array(expected), Value::Array(elements)) if path.ends_with("/required") => {
            let is_there = |name| elements.contains(name);
            elements.len() == expected.len() && expected.iter().all(is_there)
        }
        (Value::Array(expected), Value::Array(elements)) if elements.len() == expected.len() => {
            for (number, (expected, found)) in expected.iter().zip(elements).enumerate() {
                compare(&format!("{path}/{number}"), expected, found, deviations);
            }
            true
        }
        (Value::String(expected), found) => match expected.as_str() {
            TEXT => found.as_str().is_some_and(|text| !text.trim().is_empty()),
            INT32 => found.as_i64().is_some_and(|value| i32::try_from(value).is_ok()),
            INT64 => found.is_i64(),
            ANY => true,
            text => found == text,
        },
        (expected, found) => expected == found,
    };
    if !holds {
        deviations.push(format!("{path}: {found} instead of {expected}"));
    }
}
