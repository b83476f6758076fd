//! What the specification says about the interface description. It is written by hand: nothing here
//! is generated, and nothing here uses the code of the service.
//!
//! Texts and response headers may be anything, because the specification leaves them open. The
//! values of `error` are this contract's own, and clients decide by them, so they are here too.
//! Everything else is exact: the document must not have what the specification does not show.

use serde_json::{Value, json};

/// Whether it holds, and what the specification says.
type Fact = (bool, String);

/// The facts of the specification that a document does not hold.
#[must_use]
pub fn facts(document: &Value) -> Vec<String> {
    let operation = &document["paths"]["/plants"]["post"];
    [description(document), endpoint(document), request(operation), responses(operation)]
        .into_iter()
        .chain([authentication(document), resources(document)])
        .flatten()
        .filter_map(|(holds, fact)| (!holds).then_some(fact))
        .collect()
}

fn description(document: &Value) -> Vec<Fact> {
    let info = &document["info"];
    let variable = json!({ "base_url": { "default": "http://localhost:8080" } });
    vec![
        fact(
            keys(&bare(document))
                == ["components", "info", "openapi", "paths", "security", "servers", "tags"],
            "the interface description has no other part, such as events",
        ),
        fact(document["openapi"] == "3.0.3", "the interface description is OpenAPI 3.0.3"),
        fact(info["title"] == "Plant Store", "the service is a plant store: `info.title`"),
        fact(is_text(&info["description"]), "what the service does: `info.description`"),
        fact(info["version"] == "1.0.0", "the interface description carries the version 1.0.0"),
        fact(
            info["license"]["name"] == "MIT",
            "the interface description is under the MIT license",
        ),
        fact(
            document["servers"].as_array().is_some_and(|servers| {
                let [server] = &servers[..] else { return false };
                let variables = bare_members(&server["variables"]);
                server["url"] == "{base_url}" && variables == variable
            }),
            "the service is reached at {base_url}, which uses the http scheme: `servers`",
        ),
    ]
}

fn endpoint(document: &Value) -> Vec<Fact> {
    let operation = &document["paths"]["/plants"]["post"];
    let tag = &document["tags"][0];
    vec![
        fact(keys(&document["paths"]) == ["/plants"], "{base_url}/plants is the only path"),
        fact(
            keys(&bare(&document["paths"]["/plants"])) == ["post"],
            "POST is the only method of /plants",
        ),
        fact(is_text(&operation["summary"]), "create a plant: the operation's `summary`"),
        fact(is_text(&operation["description"]), "the operation's purpose: its `description`"),
        fact(is_text(&operation["operationId"]), "the operation has a name: `operationId`"),
        fact(
            operation["tags"] == json!([tag["name"]])
                && is_text(&tag["description"])
                && document["tags"].get(1).is_none(),
            "the operation has one tag, and it alone is declared, and described: `tags`",
        ),
        fact(
            keys(operation)
                == ["description", "operationId", "requestBody", "responses", "summary", "tags"],
            "the operation has no parameter, no event, no server and no credentials of its own",
        ),
    ]
}

fn request(operation: &Value) -> Vec<Fact> {
    let body = &operation["requestBody"];
    vec![
        fact(body["required"] == true, "the request body is required"),
        fact(is_text(&body["description"]), "the request body is described"),
        fact(holds_json(body, "NewPlant"), "the request body is a NewPlant, as application/json"),
    ]
}

fn responses(operation: &Value) -> Vec<Fact> {
    let responses = &operation["responses"];
    let described = |status: &str, text: &str| responses[status]["description"] == text;
    let examples = &responses["400"]["content"]["application/json"]["examples"];
    let has_example = |error: &u16| {
        let answer = &examples[error.to_string()]["value"];
        answer["error"] == *error && keys(answer).len() == 2 && is_text(&answer["message"])
    };
    vec![
        fact(keys(responses) == ["200", "400"], "the statuses are 200 and 400, and no other"),
        fact(described("200", "Plant response"), "200 is the Plant response"),
        fact(described("400", "Unexpected error"), "400 is an Unexpected error"),
        fact(holds_json(&responses["200"], "Plant"), "200 has a Plant body, as application/json"),
        fact(holds_json(&responses["400"], "Error"), "400 has an Error body, as application/json"),
        fact(
            keys(examples).len() == ERRORS.len()
                && ERRORS.iter().all(|(error, _)| has_example(error)),
            "400 has a whole answer as an example of each value of `error`, by its number",
        ),
    ]
}

fn authentication(document: &Value) -> Vec<Fact> {
    let schemes = bare_members(&document["components"]["securitySchemes"]);
    vec![
        fact(
            schemes == json!({ "bearerAuth": { "type": "http", "scheme": "bearer" } }),
            "one security scheme, named bearerAuth, of type HTTP with scheme bearer",
        ),
        fact(
            document["security"] == json!([{ "bearerAuth": [] }]),
            "the security scheme applies to every operation of the service",
        ),
    ]
}

fn resources(document: &Value) -> Vec<Fact> {
    let string = json!({ "type": "string" });
    let error = json!({
        "type": "integer",
        "format": "int32",
        "x-extensible-enum": ERRORS.map(|(value, _)| value),
    });
    let int64 = json!({ "type": "integer", "format": "int64" });
    let types = [
        ("Error", json!({ "error": error, "message": string }), json!(["error", "message"])),
        ("NewPlant", json!({ "id": int64, "name": string, "tag": string }), json!(["id", "name"])),
        ("Plant", json!({ "name": string, "tag": string }), json!(["name"])),
    ];
    let components = &document["components"];
    let mut facts = vec![fact(
        keys(components) == ["schemas", "securitySchemes"]
            && keys(&components["schemas"]) == types.each_ref().map(|(name, ..)| *name),
        "the types are Plant, NewPlant and Error, and no other component is there",
    )];
    for (name, properties, required) in types {
        let schema = &components["schemas"][name];
        let mut described = bare_members(&schema["properties"]);
        if let Some(Value::Object(error)) = described.get_mut("error") {
            error.remove("x-error-codes");
        }
        facts.extend([
            fact(
                keys(&bare(schema)) == ["properties", "required", "type"]
                    && schema["type"] == "object",
                format!("{name} is an object, without a bound"),
            ),
            fact(
                described == properties,
                format!("the fields of {name}, their types, formats and values are {properties}"),
            ),
            fact(
                sorted(&schema["required"]) == required,
                format!("the required fields of {name} are {required}"),
            ),
            fact(is_text(&schema["description"]), format!("{name} is described")),
            fact(satisfies(schema), format!("the example of {name} is one")),
        ]);
    }
    facts.extend(errors(&components["schemas"]["Error"]["properties"]["error"]["x-error-codes"]));
    facts
}

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

fn errors(codes: &Value) -> Vec<Fact> {
    let without_meaning = codes.as_array().into_iter().flatten().map(|code| {
        let mut code = code.clone();
        let meaning = code.as_object_mut().and_then(|code| code.remove("meaning"));
        if meaning.is_some_and(|meaning| is_text(&meaning)) { code } else { Value::Null }
    });
    let expected = ERRORS.map(|(error, retryable)| json!({"error": error, "retryable": retryable}));
    vec![fact(
        without_meaning.eq(expected),
        format!("each value of `error` has a meaning, and may be repeated or not: {ERRORS:?}"),
    )]
}

fn fact(holds: bool, says: impl Into<String>) -> Fact {
    (holds, says.into())
}

fn is_text(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.trim().is_empty())
}

/// The names of an object's members, sorted.
fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> =
        value.as_object().into_iter().flatten().map(|(key, _)| &key[..]).collect();
    keys.sort_unstable();
    keys
}

/// The value without the members that are texts for people.
fn bare(value: &Value) -> Value {
    let mut value = value.clone();
    if let Value::Object(members) = &mut value {
        let speaks = ["description", "example", "examples", "externalDocs", "summary", "title"];
        members.retain(|key, _| !speaks.contains(&&key[..]));
    }
    value
}

/// An object whose members are each [`bare`].
fn bare_members(value: &Value) -> Value {
    value
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, member)| (key.clone(), bare(member)))
        .collect()
}

fn sorted(list: &Value) -> Value {
    let mut names: Vec<&str> =
        list.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    names.sort_unstable();
    json!(names)
}

/// Whether a body has one content type, which has this one type, and nothing else.
fn holds_json(body: &Value, name: &str) -> bool {
    let schema = json!({ "schema": { "$ref": format!("#/components/schemas/{name}") } });
    bare_members(&body["content"]) == json!({ "application/json": schema })
        && keys(&bare(body)).iter().all(|key| ["content", "headers", "required"].contains(key))
}

/// Whether a type's example has every required field, and no field that the type does not have.
fn satisfies(schema: &Value) -> bool {
    let example = &schema["example"];
    let required = schema["required"].as_array().into_iter().flatten();
    example.is_object()
        && required.filter_map(Value::as_str).all(|name| example.get(name).is_some())
        && keys(example).into_iter().all(|name| {
            let (property, value) = (&schema["properties"][name], &example[name]);
            match (property["type"].as_str(), property["format"].as_str()) {
                (Some("string"), None) => value.is_string(),
                (Some("integer"), Some("int64")) => value.is_i64(),
                (Some("integer"), Some("int32")) => {
                    value.as_i64().is_some_and(|value| i32::try_from(value).is_ok())
                }
                _ => false,
            }
        })
}
