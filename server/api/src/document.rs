//! The published document. Dropshot makes it from [`crate::api`] and [`crate::types`], and
//! this module completes it.
//!
//! The document of Dropshot has the operation and the types. This module adds what Dropshot cannot
//! say (licence, server variable, security, the one refusal status and its headers, the values of
//! `Error.error`) and removes what Dropshot adds (`4XX`, `5XX`). It must never change what the
//! trait and the types say.

use indexmap::IndexMap;
use openapiv3::{
    Components, Contact, Header, HeaderStyle, License, OpenAPI, Operation,
    ParameterSchemaOrContent, PathItem, ReferenceOr, Response, Schema, SchemaData, SchemaKind,
    SecurityRequirement, SecurityScheme, Server, ServerVariable, StatusCode, StringType, Type,
};
use serde_json::{Value, json};

use crate::api::plant_store_api_mod;
use crate::error_code::ErrorCode;
use crate::types::{NewPlant, Plant};

/// `info.version`: a change that breaks a consumer needs a new major version, an addition a minor
/// one, a change of words none.
const VERSION: semver::Version = semver::Version::new(1, 0, 0);

const TITLE: &str = "Plant Store";

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
    let mut described = plant_store_api_mod::stub_api_description()
        .expect("the API trait is a valid API description")
        .openapi(TITLE, VERSION)
        .json()
        .expect("the API description is a JSON document");
    describe_error_codes(&mut described);
    let mut document: OpenAPI =
        serde_json::from_value(described).expect("Dropshot writes OpenAPI 3.0");
    finish(&mut document);
    document
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

/// Adds the values of `Error.error` to its description.
fn describe_error_codes(document: &mut Value) {
    let Some(Value::String(description)) =
        document.pointer_mut("/components/schemas/Error/properties/error/description")
    else {
        unreachable!("the types describe `Error.error`");
    };
    let row = |code: &ErrorCode| format!("{}: {}", code.number(), code.meaning());
    let rows: Vec<_> = ErrorCode::ALL.iter().map(row).collect();
    *description = format!(
        "{description} {}. After {} the same plant may be sent again, as it \
         is. A value that a client does not know means the same as the x00 of its class (RFC 9110, \
         section 15).",
        rows.join("; "),
        numbers(ErrorCode::may_pass),
    );
}

/// The values of `error` of which that holds.
fn numbers(holds: impl Fn(ErrorCode) -> bool) -> String {
    let codes = ErrorCode::ALL.iter().filter(|code| holds(**code));
    codes.map(|code| code.number().to_string()).collect::<Vec<_>>().join(", ")
}

fn finish(document: &mut OpenAPI) {
    document.info.description = Some(DESCRIPTION.into());
    document.info.contact = Some(Contact {
        name: Some("The operator of this plant store".into()),
        ..Contact::default()
    });
    document.info.license = Some(License {
        name: "MIT".into(),
        url: Some("https://opensource.org/license/mit".into()),
        ..License::default()
    });
    document.servers = vec![server()];
    document.security = Some(vec![SecurityRequirement::from([(SECURITY_SCHEME.into(), vec![])])]);

    let components = document.components.get_or_insert_default();
    components.security_schemes.insert(SECURITY_SCHEME.into(), ReferenceOr::Item(bearer()));
    set_example(components, "NewPlant", json!(NewPlant::example()));
    set_example(components, "Plant", json!(Plant::example()));
    let refusal = take_refusal(components);
    for (_, path) in &mut document.paths.paths {
        let ReferenceOr::Item(path) = path else { unreachable!("Dropshot writes paths in place") };
        for operation in operations(path) {
            describe_body(operation);
            describe_responses(operation, &refusal);
        }
    }
}

/// Not an attribute of the type: the example of a flattened type takes the place of that of the
/// type that flattens it.
fn set_example(components: &mut Components, schema: &str, example: Value) {
    let Some(ReferenceOr::Item(schema)) = components.schemas.get_mut(schema) else {
        unreachable!("the types are components of the document");
    };
    schema.schema_data.example = Some(example);
}

/// The operations of a path, one for each of its methods.
fn operations(path: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    let PathItem { get, put, post, delete, options, head, patch, trace, .. } = path;
    [get, put, post, delete, options, head, patch, trace].into_iter().flatten()
}

fn server() -> Server {
    let base_url = ServerVariable {
        default: "http://localhost:8080".into(),
        description: Some("Where the service listens; the scheme is http.".into()),
        ..ServerVariable::default()
    };
    Server {
        url: "{base_url}".into(),
        description: Some("A plant store.".into()),
        variables: Some([("base_url".to_owned(), base_url)].into()),
        ..Server::default()
    }
}

/// RFC 6750, section 2.1: the one way in which a token is sent.
fn bearer() -> SecurityScheme {
    SecurityScheme::HTTP {
        scheme: "bearer".into(),
        bearer_format: None,
        description: Some(
            "`Authorization: Bearer <ACCESS_TOKEN>`, with a token of this store.".into(),
        ),
        extensions: IndexMap::default(),
    }
}

/// Dropshot keeps its refusal among the components, because `4XX` and `5XX` share it. This contract
/// has one status for a refusal, so the refusal moves to that status.
fn take_refusal(components: &mut Components) -> Response {
    let Some((_, ReferenceOr::Item(mut refusal))) = components.responses.pop() else {
        unreachable!("Dropshot describes an operation's error type as a response component");
    };
    assert!(components.responses.is_empty(), "the operations share one error type");
    refusal.description = "Unexpected error".into();
    let with_pause = numbers(|code| code.retry_after().is_some());
    let retry_after = format!("Seconds to wait before sending again, if `error` is {with_pause}.");
    refusal.headers = [
        header("WWW-Authenticate", "The challenge of RFC 6750, if `error` is 401."),
        header("Retry-After", &retry_after),
    ]
    .into();
    refusal
}

fn describe_body(operation: &mut Operation) {
    if let Some(ReferenceOr::Item(body)) = &mut operation.request_body {
        body.description = Some("The plant to create.".into());
    }
}

fn describe_responses(operation: &mut Operation, refusal: &Response) {
    let responses = &mut operation.responses.responses;
    responses.retain(|status, _| matches!(status, StatusCode::Code(_)));
    responses.insert(StatusCode::Code(400), ReferenceOr::Item(refusal.clone()));
    for (_, response) in responses {
        if let ReferenceOr::Item(response) = response {
            response.headers.extend([header(
                "X-Request-Id",
                "The id of this request in the service's log: name it when you ask for help.",
            )]);
        }
    }
}

fn header(name: &str, description: &str) -> (String, ReferenceOr<Header>) {
    let schema = Schema {
        schema_data: SchemaData::default(),
        schema_kind: SchemaKind::Type(Type::String(StringType::default())),
    };
    let header = Header {
        description: Some(description.into()),
        style: HeaderStyle::Simple,
        required: false,
        deprecated: None,
        format: ParameterSchemaOrContent::Schema(ReferenceOr::Item(schema)),
        example: None,
        examples: IndexMap::default(),
        extensions: IndexMap::default(),
    };
    (name.into(), ReferenceOr::Item(header))
}
