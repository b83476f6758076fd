//! Every member that NewPlant declares is stored, compared, exported and answered. The document
//! says which members there are, so a new one is tested without a change here.

use plant_store_tests::{Response, Server};
use serde_json::{Map, Value, json};

use crate::contract::document;

type Object = Map<String, Value>;

/// The declared members of a schema, with the schema of each.
fn members(schema: &str) -> Object {
    let members = &document()["components"]["schemas"][schema]["properties"];
    members.as_object().expect("an object").clone()
}

/// One of two different values that the schema allows.
fn value(member: &str, schema: &Value, second: bool) -> Value {
    if let Some(values) = schema["enum"].as_array() {
        return values[usize::from(second)].clone();
    }
    match schema["type"].as_str() {
        Some("string") => json!(if second { "Fern" } else { "Ficus" }),
        Some("integer") => json!(if second { 2 } else { 1 }),
        Some("number") => json!(if second { 2.5 } else { 1.5 }),
        Some("boolean") => json!(second),
        _ => panic!("`{member}`: this test cannot make a value of {schema} yet"),
    }
}

fn export(server: &Server) -> Vec<Value> {
    let lines = server.command(&["export"]);
    lines.lines().map(|line| serde_json::from_str(line).expect("a plant on each line")).collect()
}

fn create(server: &Server, plant: &Object) -> Response {
    server.create(&Value::from(plant.clone()).to_string())
}

/// The plant is created, answered with its members of `Plant`, and exported as it was sent. Each of
/// `others`, which have its id, is refused with 409.
fn assert_kept(server: &Server, plant: &Object, others: impl Iterator<Item = (String, Object)>) {
    let mut answer = plant.clone();
    answer.retain(|member, _| members("Plant").contains_key(member));
    for _ in 0..2 {
        let response = create(server, plant);
        assert_eq!(response.status, 200, "{plant:?}: {response:?}");
        assert_eq!(response.json(), Value::from(answer.clone()), "members of the answer");
    }
    for (member, other) in others {
        let response = create(server, &other);
        assert_eq!(response.status, 400, "`{member}` is not compared: {other:?} after {plant:?}");
        assert_eq!(response.refusal().0, 409, "`{member}`: {response:?}");
    }
    let exported = export(server).into_iter().find(|line| line["id"] == plant["id"]);
    let exported = exported.expect("the plant is exported");
    for (member, value) in plant {
        assert_eq!(exported.get(member), Some(value), "`{member}` is not exported as it was sent");
    }
    assert_eq!(exported, Value::from(plant.clone()), "members of the export");
}

#[test]
fn every_declared_member_is_stored_compared_exported_and_answered() {
    let server = Server::start();
    let schema = &document()["components"]["schemas"]["NewPlant"];
    let is_required = |member: &str| {
        schema["required"].as_array().is_some_and(|names| names.contains(&json!(member)))
    };
    let plant = |id: i64, keep: &dyn Fn(&str) -> bool| -> Object {
        let members = members("NewPlant").into_iter().filter(|(member, _)| keep(member));
        let values = members.map(|(member, schema)| {
            let value = if member == "id" { json!(id) } else { value(&member, &schema, false) };
            (member, value)
        });
        values.collect()
    };
    let with = |plant: &Object, member: &str, value: Value| {
        let mut other = plant.clone();
        other.insert(member.to_owned(), value);
        (member.to_owned(), other)
    };
    let others = || members("NewPlant").into_iter().filter(|(member, _)| member != "id");

    let full = plant(1, &|_| true);
    let changed =
        others().map(|(member, schema)| with(&full, &member, value(&member, &schema, true)));
    let without = others().filter(|(member, _)| !is_required(member)).map(|(member, _)| {
        let mut other = full.clone();
        other.remove(&member);
        (member, other)
    });
    assert_kept(&server, &full, changed.chain(without));

    let minimal = plant(2, &is_required);
    let added = others().filter(|(member, _)| !is_required(member));
    let added =
        added.map(|(member, schema)| with(&minimal, &member, value(&member, &schema, false)));
    assert_kept(&server, &minimal, added);
}
