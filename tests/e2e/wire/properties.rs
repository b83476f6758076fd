//! Properties of every plant and of every body, tried on many random ones.

use std::cell::RefCell;
use std::collections::BTreeMap;

use nix::sys::signal::Signal;
use plant_store_tests::{Server, plant, post};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

/// Runs that many cases. After a failure it searches for a smaller case, for at most a minute. It
/// writes no file.
pub fn runner(cases: u32) -> TestRunner {
    let (failure_persistence, max_shrink_time) = (None, 60_000);
    TestRunner::new(Config { cases, failure_persistence, max_shrink_time, ..Config::default() })
}

/// Any plant. Many ids, names and tags come from a small set, so that plants repeat and conflict.
fn any_plant() -> impl Strategy<Value = (i64, String, Option<String>)> {
    let id = prop_oneof![any::<i64>(), -2..2_i64, Just(i64::MIN), Just(i64::MAX)];
    (id, any_string(), proptest::option::of(any_string()))
}

/// `any::<String>()` would leave out control characters.
fn any_string() -> impl Strategy<Value = String> {
    let any = proptest::collection::vec(any::<char>(), 0..40).prop_map(String::from_iter);
    let few =
        proptest::sample::select(vec!["", "\0", "a", "a\0", "\u{feff}", "\u{1f331}", "é\"\\"]);
    prop_oneof![any, few.prop_map(str::to_owned)]
}

/// A map holds what the store should hold: the first plant of each id. The same plant again is a
/// 200, and a different one is a 409. The export equals the map, before and after restarts.
#[test]
fn every_plant_is_stored_and_exported_byte_for_byte() {
    let mut server = Server::start();
    let mut expected = RefCell::new(BTreeMap::new());
    for signal in [Signal::SIGTERM, Signal::SIGKILL] {
        let connection = RefCell::new(server.connect());
        runner(150)
            .run(&any_plant(), |(id, name, tag)| {
                let body = plant(id, &name, tag.as_deref());
                let answer = connection.borrow_mut().exchange(&server.post(&body));
                let sent = (name, tag);
                let mut expected = expected.borrow_mut();
                if *expected.entry(id).or_insert_with(|| sent.clone()) == sent {
                    let mut plant = json!({ "name": sent.0 });
                    if let Some(tag) = sent.1 {
                        plant["tag"] = tag.into();
                    }
                    prop_assert_eq!(answer.plant(), plant);
                } else {
                    prop_assert_eq!(answer.refusal().0, 409);
                }
                Ok(())
            })
            .unwrap();
        assert_eq!(server.command(&["export"]), export_of(expected.get_mut()));
        server = server.stopped_by(signal).start();
        assert_eq!(server.command(&["export"]), export_of(expected.get_mut()));
    }
}

fn export_of(plants: &BTreeMap<i64, (String, Option<String>)>) -> String {
    let line = |(id, (name, tag)): (&i64, &(String, Option<String>))| {
        plant(*id, name, tag.as_deref()) + "\n"
    };
    plants.iter().map(line).collect()
}

/// Any body is answered with the plant that it holds, or with a declared refusal.
#[test]
fn any_body_gets_a_declared_answer() {
    let server = Server::start();
    let connection = RefCell::new(server.connect());
    runner(600)
        .run(&any_body(), |body| {
            let answer = connection.borrow_mut().exchange(&post(&server.bearer(), &body));
            if answer.status == 200 {
                let sent: Value = serde_json::from_slice(&body).expect("only JSON is accepted");
                let plant = answer.plant();
                prop_assert!(sent["id"].is_i64(), "{}", sent);
                prop_assert_eq!(&plant["name"], &sent["name"]);
                prop_assert_eq!(plant.get("tag"), sent.get("tag"));
            } else {
                prop_assert!(matches!(answer.refusal().0, 400 | 409));
            }
            Ok(())
        })
        .unwrap();
}

/// Random bytes, JSON tokens in random order, and plants with a few bytes changed.
pub fn any_body() -> impl Strategy<Value = Vec<u8>> {
    let bytes = proptest::collection::vec(any::<u8>(), 0..200);
    let edits = proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 0..4);
    let edited = (any_plant(), edits).prop_map(|((id, name, tag), edits)| {
        let mut body = plant(id, &name, tag.as_deref()).into_bytes();
        for (position, byte) in edits {
            let position = position.index(body.len());
            body[position] = byte;
        }
        body
    });
    let tokens =
        r#"(\{|\}|\[|\]|:|,|"id"|"name"|"tag"|"x"|null|true|-?[0-9]{1,20}|[.eE+ \\]){0,16}"#;
    prop_oneof![bytes, edited, tokens.prop_map(String::into_bytes)]
}
