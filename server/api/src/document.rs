//! The published OpenAPI document. Dropshot generates it from [`crate::api`] and [`crate::types`],
//! and this module completes it.
//!
//! Dropshot's document contains the operation and the types. This module adds what Dropshot cannot
//! express: the server variable, the security scheme, the single error status with its headers, and
//! the values of `Error.error`. It removes the `4XX` and `5XX` responses that Dropshot adds, and
//! replaces Dropshot's descriptions of responses. It must never change what the trait and the types
//! declare.

use openapiv3::OpenAPI;
use serde_json::{Value, json};

use crate::api::plant_store_api_mod;
use crate::error_code::ErrorCode;

/// `info.version`. A change that breaks a consumer needs a new major version, an addition needs a
/// new minor version, and a change of wording needs no new version.
const VERSION: semver::Version = semver::Version::new(1, 0, 0);

const DESCRIPTION: &str = "A sample plant store: authenticated clients create plants in it. Every \
    refused request to the operation gets status 400 and an Error body, whose `error` member names \
    the failure.";

const SECURITY_SCHEME: &str = "bearerAuth";

/// Returns the complete document: the content of `openapi/plant-store.json`.
///
/// # Panics
///
/// Panics if the trait or the types describe a contract that OpenAPI 3.0 cannot express. A test in
/// this repository fails first.
#[must_use]
pub fn document() -> OpenAPI {
    let api = plant_store_api_mod::stub_api_description();
    let api = api.expect("the API trait is a valid API description");
    let mut described = api
        .openapi("Plant Store", VERSION)
        .description(DESCRIPTION)
        .contact_name("The operator of this plant store")
        .license("MIT", "https://opensource.org/license/mit")
        .json()
        .expect("the API description is a JSON document");
    complete(&mut described);
    serde_json::from_value(described).expect("the completed document is valid OpenAPI 3.0")
}

/// Returns [`document`] as it is published: indented JSON that ends in a newline. The bytes are the
/// same on every call.
///
/// # Panics
///
/// Panics if [`document`] does.
#[must_use]
pub fn document_text() -> String {
    let mut text = serde_json::to_string_pretty(&document()).expect("an OpenAPI document is JSON");
    text.push('\n');
    text
}

fn complete(document: &mut Value) {
    describe_service(document);
    let components = &mut document["components"];
    describe_error_codes(&mut components["schemas"]["Error"]["properties"]["error"]);
    let refusal = with_headers(with_examples(take_refusal(components)));
    let schemas = components["schemas"].clone();
    let paths = members(&mut document["paths"]);
    for operation in paths.flat_map(members) {
        describe_operation(operation, &schemas, &refusal);
    }
}

fn describe_service(document: &mut Value) {
    let base_url = json!({
        "default": "http://localhost:8080",
        "description": "Base URL of the service. The scheme is http, or https if the service or a \
            proxy in front of it has a certificate.",
    });
    document["servers"] = json!([{
        "url": "{base_url}",
        "description": "A plant store.",
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

/// Adds the table of [`ErrorCode`] to `Error.error`: as text in its description, as the open
/// enumeration `x-extensible-enum` for programs, and as `x-error-codes` for the compatibility
/// check.
fn describe_error_codes(error: &mut Value) {
    let codes = || ErrorCode::ALL.iter();
    let meaning = |code: &ErrorCode| format!("{}: {}", code.number(), code.meaning());
    let description = format!(
        "{} {}. After any of {}, the same request may be sent again. Treat a value that you do not \
         know as the x00 value of its class (RFC 9110, section 15).",
        error["description"].as_str().unwrap_or_default(),
        codes().map(meaning).collect::<Vec<_>>().join("; "),
        numbers(ErrorCode::is_retryable),
    );
    let row = |code: &ErrorCode| {
        json!({
            "error": code.number(),
            "meaning": code.meaning(),
            "retryable": code.is_retryable(),
        })
    };
    error["description"] = description.into();
    error["x-extensible-enum"] = codes().map(|code| code.number()).collect();
    error["x-error-codes"] = codes().map(row).collect();
}

/// Lists the values of `error` that satisfy the predicate.
fn numbers(predicate: impl Fn(ErrorCode) -> bool) -> String {
    let codes = ErrorCode::ALL.iter().filter(|code| predicate(**code));
    codes.map(|code| code.number().to_string()).collect::<Vec<_>>().join(", ")
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
fn with_examples(mut refusal: Value) -> Value {
    let examples = &mut refusal["content"]["application/json"]["examples"];
    for code in ErrorCode::ALL {
        examples[code.number().to_string()] = json!({
            "summary": code.meaning(),
            "value": { "error": code.number(), "message": code.example() },
        });
    }
    refusal
}

/// Adds the headers that only error responses have.
fn with_headers(mut refusal: Value) -> Value {
    let delayed = numbers(|code| code.retry_after().is_some());
    let retry_after = format!(
        "Seconds to wait before sending the request again. Present if `error` is one of {delayed}."
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
