//! The published OpenAPI document. Dropshot generates it from the API of the service, and this
//! module completes it.
//!
//! Dropshot's document contains the operations and the types. This module adds what Dropshot cannot
//! express: the server variable, the security scheme, the headers of responses, the values of
//! `Error.error`, and which operations are idempotent. It replaces Dropshot's descriptions of
//! responses, and the `4XX` and `5XX` responses of a service that refuses everything with 400. It
//! must never change what the API and its types declare.

use openapiv3::OpenAPI;
use serde_json::{Value, json};

use crate::error::RefusalStatus;
use crate::service::{Info, NamedRow, Service};

const SECURITY_SCHEME: &str = "bearerAuth";

/// How the description of a service with [`RefusalStatus::SameAsError`] continues.
const SAME_AS_ERROR: &str = "Every refused request to an operation gets an Error body, whose \
    `error` member is the status code.";

/// How the description of a service with [`RefusalStatus::Always400`] continues.
const ALWAYS_400: &str = "Every refused request to an operation gets status 400 and an Error body, \
    whose `error` member names the failure.";

/// How the descriptions of all services end.
const REPEATS: &str = "The response has a `Retry-After` header exactly if the same request may be \
    sent again. If there is no response, a request may be sent again if its method is idempotent \
    (RFC 9110, section 9.2.2), or if its operation has `x-idempotent: true`.";

/// Returns the document of a service as it is published: indented JSON that ends in a newline. The
/// bytes are the same on every call.
///
/// # Panics
///
/// Panics if the API or its types describe a contract that OpenAPI 3.0 cannot express, or if the
/// table of errors has a value twice.
#[must_use]
pub fn document(service: &Service) -> String {
    let Info { title, version, description, license, license_url } = &service.info;
    let refusals = match service.refusal_status {
        RefusalStatus::SameAsError => SAME_AS_ERROR,
        RefusalStatus::Always400 => ALWAYS_400,
    };
    let mut described = (service.api)()
        .openapi(*title, version.clone())
        .description(format!("{description} {refusals} {REPEATS}"))
        .contact_name(format!("The operator of this {}", title.to_lowercase()))
        .license(license, license_url)
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
    describe_refusal(&mut components["responses"], table);
    let schemas = components["schemas"].clone();
    let paths = members(&mut document["paths"]);
    for operation in paths.flat_map(members) {
        describe_operation(operation, &schemas);
    }
    if service.refusal_status == RefusalStatus::Always400 {
        declare_only_400(document);
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

/// Describes the body and the 200 by their schemas, if these have names, and adds the header of the
/// 200. The schema of an array, for example, has no name.
fn describe_operation(operation: &mut Value, schemas: &Value) {
    if let Some(body) = operation.get_mut("requestBody")
        && let Some(name) = schema_name(body)
    {
        body["description"] = first_sentence(&schemas[name]["description"]).into();
    }
    let responses = operation["responses"].as_object_mut().expect("an operation has responses");
    for (_, success) in responses.iter_mut().filter(|(status, _)| !status.ends_with("XX")) {
        if let Some(name) = schema_name(success) {
            success["description"] = format!("{name} response").into();
        }
        success["headers"]["X-Request-Id"] = request_id();
    }
}

/// Moves Dropshot's error response to the status 400 of each operation. Dropshot makes it a
/// component because `4XX` and `5XX` share it.
fn declare_only_400(document: &mut Value) {
    let components = document["components"].as_object_mut().expect("the document has components");
    let mut refusals = components.remove("responses").expect("the operations can be refused");
    let refusal = members(&mut refusals).next().expect("the error type is a component").take();
    for operation in members(&mut document["paths"]).flat_map(members) {
        let responses = operation["responses"].as_object_mut().expect("an operation has responses");
        responses.retain(|status, _| !status.ends_with("XX"));
        responses.insert("400".into(), refusal.clone());
    }
}

/// Returns the name of the schema of a request body or a response.
fn schema_name(content: &Value) -> Option<&str> {
    let reference = content["content"]["application/json"]["schema"]["$ref"].as_str()?;
    reference.strip_prefix("#/components/schemas/")
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
    let row = |row: &NamedRow| {
        let NamedRow { error, meaning, retryable, .. } = row;
        json!({ "error": error, "meaning": meaning, "retryable": retryable })
    };
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

/// Describes Dropshot's error response, which is a component: an example body for each value of
/// `error`, named by the value, and the headers.
fn describe_refusal(responses: &mut Value, table: &[NamedRow]) {
    let mut refusals = members(responses);
    let refusal = refusals.next().expect("the error type is a component");
    assert!(refusals.next().is_none(), "the operations share one error type");
    refusal["description"] = "Unexpected error".into();
    let examples = &mut refusal["content"]["application/json"]["examples"];
    for row in table {
        let value = example(row);
        examples[row.error.to_string()] = json!({ "summary": row.meaning, "value": value });
    }
    let retry_after = format!(
        "Seconds to wait before sending the same request again. Present exactly if it may be sent \
         again: if `error` is one of {}.",
        retryable(table),
    );
    let challenge = "Challenge as defined by RFC 6750. Present if `error` is 401.";
    refusal["headers"] = json!({
        "WWW-Authenticate": header(challenge, "string"),
        "Retry-After": header(&retry_after, "integer"),
        "X-Request-Id": request_id(),
    });
}

/// The header that all responses have.
fn request_id() -> Value {
    let description =
        "Identifies this request in the log of the service. Quote it when you ask for help.";
    header(description, "string")
}

fn header(description: &str, kind: &str) -> Value {
    json!({ "description": description, "schema": { "type": kind } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_schema_keeps_its_description() {
        let content = json!({ "application/json": { "schema": { "type": "array" } } });
        let success = json!({ "description": "successful operation", "content": content });
        let mut operation = json!({ "responses": { "200": success } });
        describe_operation(&mut operation, &json!({}));
        let described = &operation["responses"]["200"];
        assert_eq!(described["description"], "successful operation");
        assert!(described["headers"]["X-Request-Id"].is_object());
    }
}
