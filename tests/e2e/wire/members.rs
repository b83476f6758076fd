//! Every member that NewPlant declares is read strictly, stored, compared, exported, copied and
//! answered. The document says which members there are, so a new one is tested without a change
//! here.

use std::collections::BTreeSet;

use plant_store_tests::{Response, Server};
use serde_json::{Map, Value, json};

use crate::without_store::contract::document;

type Object = Map<String, Value>;

/// The declared members of a schema, with the schema of each.
fn members(schema: &str) -> Object {
    let members = &document()["components"]["schemas"][schema]["properties"];
    members.as_object().expect("an object").clone()
}

/// The largest integer that the schema allows, and how many bits its format has.
fn largest(member: &str, schema: &Value) -> (i64, u32) {
    match schema["format"].as_str() {
        Some("int32") => (i32::MAX.into(), 32),
        Some("int64") => (i64::MAX, 64),
        _ => panic!("`{member}`: this test does not know the largest integer of {schema} yet"),
    }
}

/// One of two different values that the schema allows.
fn value(member: &str, schema: &Value, second: bool) -> Value {
    if let Some(values) = schema["enum"].as_array() {
        return values[usize::from(second)].clone();
    }
    match schema["type"].as_str() {
        Some("string") => json!(if second { "Fern" } else { "Ficus" }),
        Some("integer") => json!(if second { largest(member, schema).0 } else { 1 }),
        Some("number") => json!(if second { 2.5 } else { 1.5 }),
        Some("boolean") => json!(second),
        _ => panic!("`{member}`: this test cannot make a value of {schema} yet"),
    }
}

fn is_required(member: &str) -> bool {
    let required = &document()["components"]["schemas"]["NewPlant"]["required"];
    required.as_array().is_some_and(|names| names.contains(&json!(member)))
}

/// A plant with the declared members that are wanted.
fn plant(id: i64, wanted: impl Fn(&str) -> bool) -> Object {
    let members = members("NewPlant").into_iter().filter(|(member, _)| wanted(member));
    let mut plant: Object = members
        .map(|(member, schema)| {
            let value = value(&member, &schema, false);
            (member, value)
        })
        .collect();
    plant.insert("id".to_owned(), json!(id));
    plant
}

/// Plants with the id of this one, each with another value of one member, with one more or one
/// less. The name of that member is with each.
fn others(plant: &Object) -> Vec<(String, Object)> {
    let mut others = Vec::new();
    for (member, schema) in members("NewPlant").into_iter().filter(|(member, _)| member != "id") {
        let values = [false, true].map(|second| Some(value(&member, &schema, second)));
        for value in values.into_iter().chain([None]) {
            let mut other = plant.clone();
            match value {
                Some(value) => other.insert(member.clone(), value),
                None if is_required(&member) => continue,
                None => other.remove(&member),
            };
            if other != *plant {
                others.push((member.clone(), other));
            }
        }
    }
    others
}

fn export(server: &Server, store: &str) -> Vec<Value> {
    let lines = server.command(&["export", "--store", store]);
    lines.lines().map(|line| serde_json::from_str(line).expect("a plant on each line")).collect()
}

fn create(server: &Server, plant: &Object) -> Response {
    server.create(&Value::from(plant.clone()).to_string())
}

/// Each is created, answered with its members of `Plant`, and exported as it was sent. Any other
/// plant of its id is refused with 409.
#[test]
fn every_declared_member_is_stored_compared_exported_and_answered() {
    let server = Server::start();
    for plant in [plant(1, |_| true), plant(2, is_required)] {
        let mut answer = plant.clone();
        answer.retain(|member, _| members("Plant").contains_key(member));
        for _ in 0..2 {
            let response = create(&server, &plant);
            assert_eq!(response.status, 200, "{plant:?}: {response:?}");
            assert_eq!(response.json(), Value::from(answer.clone()), "members of the answer");
        }
        for (member, other) in others(&plant) {
            let response = create(&server, &other);
            assert_eq!(response.status, 400, "`{member}` is not compared: {other:?}, {plant:?}");
            assert_eq!(response.refusal().0, 409, "`{member}`: {response:?}");
        }
        let exported =
            export(&server, server.store()).into_iter().find(|line| line["id"] == plant["id"]);
        assert_eq!(exported, Some(Value::from(plant)), "the export (left)");
    }
}

#[test]
fn every_declared_member_is_copied_and_counts_in_the_checksum() {
    let full = plant(1, |_| true);
    let mut checksums = BTreeSet::new();
    for (member, plant) in [(String::new(), full.clone())].into_iter().chain(others(&full)) {
        let server = Server::start();
        assert_eq!(create(&server, &plant).status, 200, "{plant:?}");
        server.command(&["token", "revoke", "first"]);
        let printed = server.command(&["copy", "--from", server.store(), "--to", "sqlite:copy.db"]);
        assert_eq!(export(&server, "sqlite:copy.db"), [Value::from(plant)], "the copy (left)");
        let checksum = printed.trim_end().rsplit(' ').next().expect("a checksum").to_owned();
        assert!(checksums.insert(checksum), "`{member}` does not count: {printed}");
    }
}

/// Also null, which is no value of an optional member.
#[test]
fn declared_member_of_another_type_or_given_twice_is_400() {
    let server = Server::start();
    let plant = plant(1, |_| true);
    let refuse = |member: &str, body: &str| {
        let response = server.create(body);
        assert_eq!(response.status, 400, "`{member}`: {body}");
        let (error, message) = response.refusal();
        assert_eq!(error, 400, "`{member}`: {body}: {message}");
        assert!(message.contains(&format!("`{member}`")), "{body}: {message}");
    };
    for (member, schema) in members("NewPlant") {
        for (kind, value) in [
            ("string", json!("1")),
            ("integer", json!(1)),
            ("number", json!(1.0)),
            ("boolean", json!(true)),
            ("array", json!([])),
            ("object", json!({})),
            ("null", Value::Null),
        ] {
            // Every integer is a number.
            if schema["type"] == kind || (schema["type"] == "number" && kind == "integer") {
                continue;
            }
            let mut other = plant.clone();
            other.insert(member.clone(), value);
            refuse(&member, &Value::from(other).to_string());
        }
        let once = Value::from(plant.clone()).to_string();
        let members = once.strip_suffix('}').expect("an object");
        refuse(&member, &format!("{members},{member:?}:{}}}", plant[&member]));
    }
}

#[test]
fn integer_past_its_format_is_400_and_the_message_names_the_bits() {
    let server = Server::start();
    for (member, schema) in members("NewPlant") {
        if schema["type"] != "integer" {
            continue;
        }
        let (largest, bits) = largest(&member, &schema);
        for value in [i128::from(largest) + 1, -i128::from(largest) - 2] {
            let mut others = plant(1, |_| true);
            others.remove(&member);
            let others = Value::from(others).to_string();
            // As text: no number of serde_json is so large.
            let body = others.replacen('{', &format!("{{{member:?}:{value},"), 1);
            let expected =
                format!("`{member}` is out of range; expected an integer of {bits} bits");
            assert_eq!(server.create(&body).refusal(), (400, expected), "{body}");
        }
    }
}
