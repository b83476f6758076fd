//! The published document. Dropshot makes it from [`crate::api`] and [`crate::types`], and
//! this module completes it.
//!
//! The document of Dropshot has the operation and the types. This module adds what Dropshot cannot
//! say (server variable, security, the one refusal status and its headers, the values of
//! `Error.error`) and removes what Dropshot adds (`4XX`, `5XX`). It must never change what the
//! trait and the types say. Of Dropshot's words, it replaces the descriptions of responses.

use openapiv3::OpenAPI;
use serde_json::{Value, json};

use crate::api::plant_store_api_mod;
use crate::error_code::ErrorCode;

/// `info.version`: a change that breaks a consumer needs a new major version, an addition a minor
/// one, a change of words none.
const VERSION: semver::Version = semver::Version::new(1, 0, 0);

const DESCRIPTION: &str = "A sample plant store: an authenticated client creates plants in it. \
    Every refusal of the operation is a 400 with an Error body, whose `error` names the failure.";

const SECURITY_SCHEME: &str = "bearerAuth";

/// The document, complete: what `openapi/plant-store.json` holds.
///
/// # Panics
///
/// The trait or the types no longer describe a contract that OpenAPI 3.0 can say. A test of this
/// repository fails first.
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
    serde_json::from_value(described).expect("it is OpenAPI 3.0")
}

/// The text of [`document`], as published: indented JSON that ends in a newline, the same bytes
/// every time.
///
/// # Panics
///
/// As [`document`] does.
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
        "description": "Where the service is reached: by http, or by https if the service or a \
            proxy in front of it has a certificate.",
    });
    document["servers"] = json!([{
        "url": "{base_url}",
        "description": "A plant store.",
        "variables": { "base_url": base_url },
    }]);
    document["security"] = json!([{ SECURITY_SCHEME: [] }]);
    // RFC 6750, section 2.1: the one way in which a token is sent.
    document["components"]["securitySchemes"][SECURITY_SCHEME] = json!({
        "type": "http",
        "scheme": "bearer",
        "description": "`Authorization: Bearer <ACCESS_TOKEN>`, with a token of this store.",
    });
}

/// Describes the body and the 200 by their schemas, puts the one refusal in place of Dropshot's, and
/// adds the header of all answers.
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
            "The id of this request in the service's log: name it when you ask for help.",
            "string",
        );
    }
}

/// The name of the schema of a body or of a response.
fn schema_name(of: &Value) -> &str {
    let reference = of["content"]["application/json"]["schema"]["$ref"].as_str();
    let name = reference.and_then(|path| path.strip_prefix("#/components/schemas/"));
    name.expect("each body and each response is a schema with a name")
}

fn first_sentence(description: &Value) -> String {
    let description = description.as_str().unwrap_or_default();
    let (sentence, _) = description.split_once(". ").unwrap_or((description, ""));
    format!("{}.", sentence.trim_end_matches('.'))
}

/// The values of the members of an object.
fn members(object: &mut Value) -> impl Iterator<Item = &mut Value> {
    object.as_object_mut().expect("it is an object").values_mut()
}

/// Adds the table of [`ErrorCode`] to `Error.error`: for people in its description, for programs as
/// the open enumeration `x-extensible-enum`, and for the compatibility check as `x-error-codes`.
fn describe_error_codes(error: &mut Value) {
    let codes = || ErrorCode::ALL.iter();
    let meaning = |code: &ErrorCode| format!("{}: {}", code.number(), code.meaning());
    let description = format!(
        "{} {}. After {} the same request may be sent again, as it is. A value that a client \
         does not know means the same as the x00 of its class (RFC 9110, section 15).",
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

/// The values of `error` of which that holds.
fn numbers(holds: impl Fn(ErrorCode) -> bool) -> String {
    let codes = ErrorCode::ALL.iter().filter(|code| holds(**code));
    codes.map(|code| code.number().to_string()).collect::<Vec<_>>().join(", ")
}

/// Dropshot keeps its refusal among the components, because `4XX` and `5XX` share it. This contract
/// has one status for a refusal, so the refusal moves to that status.
fn take_refusal(components: &mut Value) -> Value {
    let mut responses = components["responses"].take();
    let mut refusals = members(&mut responses);
    let mut refusal = refusals.next().expect("the error type is a component").take();
    assert!(refusals.next().is_none(), "the operations share one error type");
    components.as_object_mut().expect("it is an object").remove("responses");
    refusal["description"] = "Unexpected error".into();
    refusal
}

/// Adds a whole answer for each value of `error`, by its number.
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

/// The headers that a refusal has and no other answer.
fn with_headers(mut refusal: Value) -> Value {
    let with_pause = numbers(|code| code.retry_after().is_some());
    let retry_after = format!("Seconds to wait before sending again, if `error` is {with_pause}.");
    refusal["headers"] = json!({
        "WWW-Authenticate": header("The challenge of RFC 6750, if `error` is 401.", "string"),
        "Retry-After": header(&retry_after, "integer"),
    });
    refusal
}

fn header(description: &str, kind: &str) -> Value {
    json!({ "description": description, "schema": { "type": kind } })
}
