//! Properties of every pair of documents. A pair is a generated document and an edited copy of it.
//!
//! `COMPAT_CASES` sets the number of pairs.

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestError, TestRunner};
use serde_json::{Map, Value, json};

use openapi_compat::{Class, Document, Kind, Report, compare};

use crate::mutations::{document, judged};

const NAMES: [&str; 4] = ["A", "B", "C", "D"];

/// A discriminator with a value for each type.
fn discriminator() -> Value {
    let to = |name: &str| json!(format!("#/components/schemas/{name}"));
    let mapping = Map::from_iter(NAMES.map(|name| (name.to_lowercase(), to(name))));
    json!({ "propertyName": "a", "mapping": mapping })
}

/// A schema whose keywords may contradict each other.
fn schema() -> impl Strategy<Value = Value> {
    let name = prop::sample::select(&NAMES[..]);
    let leaf = prop_oneof![
        Just(json!({})),
        Just(json!({ "type": "string" })),
        Just(json!({ "type": "string", "nullable": true, "default": "a" })),
        Just(
            json!({ "type": "integer", "format": "int32", "minimum": 1, "exclusiveMinimum": true })
        ),
        Just(json!({ "type": "number", "multipleOf": 2 })),
        Just(json!({ "type": "boolean", "readOnly": true })),
        Just(json!({ "enum": [null] })),
        Just(json!({ "type": "string", "nullable": true, "enum": ["a", null] })),
        Just(json!({ "type": "object", "title": "T", "xml": { "name": "x" } })),
        Just(json!({ "type": "object", "required": ["a"], "discriminator": discriminator() })),
        prop::collection::vec("[a-c]", 1..3)
            .prop_map(|all| json!({ "type": "string", "enum": all })),
        name.prop_map(|name| json!({ "$ref": format!("#/components/schemas/{name}") })),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..4);
        let members = prop::collection::btree_map("[a-d]", inner.clone(), 0..4);
        prop_oneof![
            list.clone().prop_map(|all| json!({ "oneOf": all })),
            list.clone().prop_map(|all| json!({ "oneOf": all, "discriminator": discriminator() })),
            (inner.clone(), inner.clone()).prop_map(|(one, other)| {
                json!({ "allOf": [one, { "properties": { "a": other }, "maxLength": 3 }] })
            }),
            list.clone().prop_map(|all| json!({ "anyOf": all, "nullable": true })),
            list.prop_map(|all| json!({ "allOf": all, "description": "All parts" })),
            inner.clone().prop_map(|items| json!({ "type": "array", "items": items })),
            inner.clone().prop_map(|not| json!({ "not": not })),
            inner.prop_map(|others| json!({ "type": "object", "additionalProperties": others })),
            (members, prop::collection::vec("[a-d]", 0..3)).prop_map(|(members, required)| {
                json!({ "type": "object", "properties": members, "required": required })
            }),
        ]
    })
}

/// A document in which operations use the four types.
fn documents() -> impl Strategy<Value = Value> {
    prop::collection::vec(schema(), NAMES.len()).prop_map(|schemas| {
        let mut all = document();
        for (name, schema) in NAMES.iter().zip(schemas) {
            all["components"]["schemas"][*name] = schema;
        }
        let one = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
        all["components"]["schemas"]["NewBook"]["properties"]["a"] = one("A");
        all["components"]["schemas"]["Book"]["properties"]["b"] = one("B");
        all["components"]["schemas"]["Shape"]["oneOf"][0]["properties"]["c"] = one("C");
        all
    })
}

/// Edits a document at random places: removes a value, or replaces it by another value of the
/// document.
fn edited(document: &Value, edits: &[(Index, Index, bool)]) -> Value {
    let mut edited = document.clone();
    for (from, to, removes) in edits {
        let mut places = Vec::new();
        collect(&edited, "", &mut places);
        let to = places[to.index(places.len())].clone();
        let from = edited.pointer(&places[from.index(places.len())]).cloned();
        let (parent, name) = to.rsplit_once('/').expect("a pointer");
        match edited.pointer_mut(parent) {
            Some(Value::Object(members)) if *removes => {
                members.remove(&name.replace("~1", "/").replace("~0", "~"));
            }
            _ => {
                if let (Some(place), Some(value)) = (edited.pointer_mut(&to), from) {
                    *place = value;
                }
            }
        }
    }
    edited
}

fn collect(value: &Value, place: &str, places: &mut Vec<String>) {
    let members: Vec<(String, &Value)> = match value {
        Value::Object(members) => members.iter().map(|(name, one)| (name.clone(), one)).collect(),
        Value::Array(items) => {
            items.iter().enumerate().map(|(at, one)| (at.to_string(), one)).collect()
        }
        _ => Vec::new(),
    };
    for (name, member) in members {
        let place = format!("{place}/{}", name.replace('~', "~0").replace('/', "~1"));
        collect(member, &place, places);
        places.push(place);
    }
}

/// Reverses the members of all objects, and all lists whose order means nothing.
fn reversed(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut reversed = Map::new();
            for (name, member) in members.iter().rev() {
                let has_order = ["default", "example", "x-error-codes"].contains(&name.as_str());
                let member = if has_order { member.clone() } else { self::reversed(member) };
                reversed.insert(name.clone(), member);
            }
            Value::Object(reversed)
        }
        Value::Array(items) => items.iter().rev().map(reversed).collect(),
        _ => value.clone(),
    }
}

/// Gives each type of a document another name.
fn renamed(document: &Value) -> Value {
    let mut text = document.to_string();
    for name in document["components"]["schemas"].as_object().expect("schemas").keys() {
        let pointer = format!("#/components/schemas/{name}\"");
        text = text.replace(&pointer, &format!("#/components/schemas/{name}_2\""));
    }
    let mut renamed: Value = serde_json::from_str(&text).expect("JSON");
    let all = renamed["components"]["schemas"].take();
    let all = all.as_object().expect("schemas").iter();
    let all: Map<_, _> = all.map(|(name, one)| (format!("{name}_2"), one.clone())).collect();
    renamed["components"]["schemas"] = Value::Object(all);
    renamed
}

#[test]
fn order_changes_nothing_and_type_names_break_no_wire() {
    let cases = std::env::var("COMPAT_CASES").ok().and_then(|cases| cases.parse().ok());
    let config =
        Config { cases: cases.unwrap_or(64), failure_persistence: None, ..Config::default() };
    let edits = prop::collection::vec(any::<(Index, Index, bool)>(), 1..6);
    let run = TestRunner::new(config).run(&(documents(), edits), |(old, edits)| {
        let report = |new: &Value| judged(&old, new);
        prop_assert!(report(&old).changes.is_empty(), "{}", report(&old));
        let other_order = report(&reversed(&old));
        prop_assert!(other_order.class() <= Some(Class::Words), "{other_order}");
        // A leading comment makes the program read JSON as YAML.
        let yaml = Document::parse("yaml", &format!("# YAML\n{old}")).expect("a document");
        let json = Document::parse("json", &old.to_string()).expect("a document");
        let as_yaml = compare(json, yaml);
        prop_assert!(as_yaml.changes.is_empty(), "{as_yaml}");
        let new_names = report(&renamed(&old));
        // `not` is compared as a whole, with the names in it.
        let mut breaks = new_names.changes.iter().filter(|one| one.class == Class::Wire);
        prop_assert!(breaks.all(|one| one.kind == Kind::Limit), "{new_names}");

        // An edited document that is invalid is refused.
        let new = edited(&old, &edits);
        let Ok(new_document) = Document::parse("new", &new.to_string()) else {
            return Ok(());
        };
        let same = Document::parse("new", &reversed(&new).to_string());
        let old_document = || Document::parse("old", &old.to_string()).expect("a document");
        let forth = compare(old_document(), new_document);
        if let Ok(same) = same {
            let reversed = compare(old_document(), same);
            // Another order is another spelling.
            let verdict = |report: &Report| report.class().filter(|one| *one > Class::Words);
            prop_assert_eq!(verdict(&forth), verdict(&reversed), "{}\n{}", forth, reversed);
        }
        let new_document = || Document::parse("new", &new.to_string()).expect("a document");
        prop_assert!(compare(new_document(), new_document()).changes.is_empty());
        let back = compare(new_document(), old_document());
        prop_assert_eq!(forth.changes.is_empty(), back.changes.is_empty());
        Ok(())
    });
    run.unwrap_or_else(|failure| match failure {
        TestError::Fail(reason, (old, edits)) => panic!("{reason}\n{old}\n{edits:?}"),
        TestError::Abort(reason) => panic!("{reason}"),
    });
}
