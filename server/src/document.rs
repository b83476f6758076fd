//! The published document: what Dropshot makes of [`crate::api`], finished.
//!
//! Dropshot knows the operation and the types. This module adds what it has no words for
//! (licence, server variable, security, the one refusal status, its headers) and takes out what
//! it adds of its own (`4XX`, `5XX`). It must never change what [`crate::api`] says.

use indexmap::IndexMap;
use openapiv3::{
    Components, Contact, Header, HeaderStyle, License, OpenAPI, Operation,
    ParameterSchemaOrContent, ReferenceOr, Response, Schema, SchemaData, SchemaKind,
    SecurityRequirement, SecurityScheme, Server, ServerVariable, StatusCode, StringType, Type,
};

use crate::api::plant_store_api_mod;

/// `info.version`: a change that breaks a consumer needs a new major version, an addition a
/// minor one, words a patch.
const VERSION: semver::Version = semver::Version::new(1, 0, 0);

const TITLE: &str = "Plant Store";

const DESCRIPTION: &str = "A sample plant store: an authenticated client creates plants in it. \
    Every refusal of the operation is a 400 with an Error body, whose `error` names the failure.";

const SECURITY_SCHEME: &str = "bearerAuth";

/// The document, complete: what `openapi/plant-store.json` holds.
///
/// # Panics
///
/// Where [`crate::api`] no longer describes a contract that OpenAPI 3.0 can say; a test of this
/// crate would have met it first.
#[must_use]
pub fn document() -> OpenAPI {
    let described = plant_store_api_mod::stub_api_description()
        .expect("the API trait is a valid API description")
        .openapi(TITLE, VERSION)
        .json()
        .expect("the API description is a JSON document");
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
    let refusal = take_refusal(components);
    for (_, path) in &mut document.paths.paths {
        let ReferenceOr::Item(path) = path else { unreachable!("Dropshot writes paths in place") };
        for operation in
            [&mut path.get, &mut path.put, &mut path.post, &mut path.delete].into_iter().flatten()
        {
            describe_body(operation);
            describe_responses(operation, &refusal);
        }
    }
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

/// Dropshot keeps its refusal among the components, for `4XX` and `5XX` alike; this contract has
/// one status to put it in, so it needs no shared name.
fn take_refusal(components: &mut Components) -> Response {
    let Some((_, ReferenceOr::Item(mut refusal))) = components.responses.pop() else {
        unreachable!("Dropshot describes an operation's error type as a response component");
    };
    assert!(components.responses.is_empty(), "the operations share one error type");
    refusal.description = "Unexpected error".into();
    refusal.headers = [
        header("WWW-Authenticate", "The challenge of RFC 6750, where `error` is 401."),
        header("Retry-After", "Seconds to wait before sending again, where `error` is 503."),
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
