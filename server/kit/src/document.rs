//! The published OpenAPI document. Dropshot generates it from the API of the service, and this
//! module completes it.
//!
//! Dropshot's document contains the operations and the types. This module adds what Dropshot cannot
//! express: the server variable, the security scheme, the single error status with its headers, the
//! values of `Error.error`, and which operations are idempotent. It removes the `4XX` and `5XX`
//! responses that Dropshot adds, and replaces Dropshot's descriptions of responses. It must never
//! change what the API and its types declare.

use openapiv3::OpenAPI;
use serde_json::{Value, json};

use crate::service::{Info, NamedRow, Service};

const SECURITY_SCHEME: &str = "bearerAuth";

/// What the descriptions of all services have in common.
const DESCRIPTION: &str = "Every refused request to an operation gets status 400 and an Error \
    body, whose `error` member names the failure. The response has a `Retry-After` header exactly \
    if the same request may be sent again. If there is no response, a request may be sent again if \
    its method is idempotent (RFC 9110, section 9.2.2), or if its operation has `x-idempotent: \
    true`.";

/// Returns the document of a service as it is published: indented JSON that ends in a newline. The
/// bytes are the same on every call.
///
/// # Panics
///
/// Panics if the API or its types describe a contract that OpenAPI 3.0 cannot express, or if the
/// table of errors has a value twice.
#[must_use]
pub fn document(service: &Service) -> String {
    let Info { title, version, description } = &service.info;
    let mut described = (service.api)()
        .openapi(*title, version.clone())
        .description(format!("{description} {DESCRIPTION}"))
        .contact_name(format!("The operator of this {}", title.to_lowercase()))
        .license("MIT", "https://opensource.org/license/mit")
        .json()
        .expect("the API description is a JSON document");
    complete(&mut described, service);
    let document: OpenAPI =
        serde_json::from_value(described).expect("the completed document is valid OpenAPI 3.0");
    serde_json::to_string_pretty(&document).expect("an OpenAPI document is JSON") + "\n"
}

fn complete(document: &mut Value, service: &Service) {
    let table = &service.error_table();
    describe_service(document, &service.info);
    let components = &mut document["components"];
    describe_error(&mut components["schemas"]["Error"], table);
    let refusal = with_headers(with_examples(take_refusal(components), table), table);
    let schemas = components["schemas"].clone();
    let paths = members(&mut document["paths"]);
    for operation in paths.flat_map(members) {
        describe_operation(operation, &schemas, &refusal);
    }
    for id in service.idempotent {
        let mut operations = members(&mut document["paths"]).flat_map(members);
        let operation = operations.find(|operation| operation["operationId"] == *id);
        let operation =
            operation.unwrap_or_else(|| panic!("`idempotent` names no operation: {id}"));
        operation["x-idempotent"] = true.into();
    }
}

fn describe_service(document: &mut Value, info: &Info) {
    let base_url = json!({
        "default": "http://localhost:8080",
        "description": "Base URL of the service. The scheme is http, or https if the service or a \
            proxy in front of it has a certificate.",
    });
    document["servers"] = json!([{
        "url": "{base_url}",
        "description": format!("A {}.", info.title.to_lowercase()),
        "variables": { "base_url": base_url },
    }]);
    document["security"] = json!([{ SECURITY_SCHEME: [] }]);
    // RFC 6750, section 2.1: the only way to send a token.
    document["components"]["securitySchemes"][SECURITY_SCHEME] = json!({
        "type": "http",
        "scheme": "bearer",
        "description": "Send `Authorization: Bearer <ACCESS_TOKEN>` with a token that was issued \
            for this store.",
    });
}

/// Describes the body and the 200 by their schemas, replaces Dropshot's error responses with the
/// single refusal, and adds the header that all responses have in common.
fn describe_operation(operation: &mut Value, schemas: &Value, refusal: &Value) {
    if let Some(body) = operation.get_mut("requestBody") {
        let schema = &schemas[schema_name(body)];
        body["description"] = first_sentence(&schema["description"]).into();
    }
    let responses = operation["responses"].as_object_mut().expect("an operation has responses");
    responses.retain(|status, _| !status.ends_with("XX"));
    for success in responses.values_mut() {
        success["description"] = format!("{} response", schema_name(success)).into();
    }
    responses.insert("400".into(), refusal.clone());
    for response in responses.values_mut() {
        response["headers"]["X-Request-Id"] = header(
            "Identifies this request in the log of the service. Quote it when you ask for help.",
            "string",
        );
    }
}

/// Returns the name of the schema of a request body or a response.
fn schema_name(content: &Value) -> &str {
    let reference = content["content"]["application/json"]["schema"]["$ref"].as_str();
    let name = reference.and_then(|path| path.strip_prefix("#/components/schemas/"));
    name.expect("each body and each response refers to a named schema")
}

fn first_sentence(description: &Value) -> String {
    let description = description.as_str().unwrap_or_default();
    let (sentence, _) = description.split_once(". ").unwrap_or((description, ""));
    format!("{}.", sentence.trim_end_matches('.'))
}

/// Returns the values of the members of an object.
fn members(object: &mut Value) -> impl Iterator<Item = &mut Value> {
    object.as_object_mut().expect("the value is an object").values_mut()
}

/// Adds an example of an error, and the table of errors at `Error.error`: as text in its
/// description, as the open enumeration `x-extensible-enum` for programs, and as `x-error-codes`
/// for the compatibility check.
fn describe_error(schema: &mut Value, table: &[NamedRow]) {
    let conflict = table.iter().find(|row| row.error == 409).expect("every table has this row");
    schema["example"] = example(conflict);
    let error = &mut schema["properties"]["error"];
    let meaning = |row: &NamedRow| format!("{}: {}", row.error, row.meaning);
    let description = format!(
        "{} {}. After any of {}, the same request may be sent again. Treat a value that you do not \
         know as the x00 value of its class (RFC 9110, section 15).",
        error["description"].as_str().unwrap_or_default(),
        table.iter().map(meaning).collect::<Vec<_>>().join("; "),
        retryable(table),
    );
    let row = |row: &NamedRow| json!({ "error": row.error, "meaning": row.meaning, "retryable": row.retryable });
    error["description"] = description.into();
    error["x-extensible-enum"] = table.iter().map(|row| row.error).collect();
    error["x-error-codes"] = table.iter().map(row).collect();
}

fn example(row: &NamedRow) -> Value {
    json!({ "error": row.error, "message": row.example })
}

/// Lists the values of `error` after which the same request may be sent again.
fn retryable(table: &[NamedRow]) -> String {
    let rows = table.iter().filter(|row| row.retryable);
    rows.map(|row| row.error.to_string()).collect::<Vec<_>>().join(", ")
}

/// Removes Dropshot's error response from the components and returns it.
///
/// Dropshot makes it a component because `4XX` and `5XX` share it. This contract has a single error
/// status, so the response moves to that status.
fn take_refusal(components: &mut Value) -> Value {
    let mut responses = components["responses"].take();
    let mut refusals = members(&mut responses);
    let mut refusal = refusals.next().expect("the error type is a component").take();
    assert!(refusals.next().is_none(), "the operations share one error type");
    components.as_object_mut().expect("the components are an object").remove("responses");
    refusal["description"] = "Unexpected error".into();
    refusal
}

/// Adds an example body for each value of `error`, named by the value.
fn with_examples(mut refusal: Value, table: &[NamedRow]) -> Value {
    let examples = &mut refusal["content"]["application/json"]["examples"];
    for row in table {
        let value = example(row);
        examples[row.error.to_string()] = json!({ "summary": row.meaning, "value": value });
    }
    refusal
}

/// Adds the headers that only error responses have.
fn with_headers(mut refusal: Value, table: &[NamedRow]) -> Value {
    let retry_after = format!(
        "Seconds to wait before sending the same request again. Present exactly if it may be sent \
         again: if `error` is one of {}.",
        retryable(table),
    );
    let challenge = "Challenge as defined by RFC 6750. Present if `error` is 401.";
    refusal["headers"] = json!({
        "WWW-Authenticate": header(challenge, "string"),
        "Retry-After": header(&retry_after, "integer"),
    });
    refusal
}

fn header(description: &str, kind: &str) -> Value {
    json!({ "description": description, "schema": { "type": kind } })
}
