//! A property of every plant, tried on many random ones. The document says which members there are,
//! so a new one is tested without a change here.

use std::cell::RefCell;
use std::collections::BTreeMap;

use nix::sys::signal::Signal;
use plant_store_tests::{Server, post};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::fuzzing::second_reader::MEMBERS;
use crate::fuzzing::spelling::spelled_plant;

/// Runs that many cases. After a failure it searches for a smaller case, for at most a minute. It
/// writes no file.
pub fn runner(cases: u32) -> TestRunner {
    TestRunner::new(Config {
        cases,
        failure_persistence: None,
        max_shrink_time: 60_000,
        ..Config::default()
    })
}

/// Plants with the id of this one, each with another value of one member, with one more or one
/// less.
fn others(plant: &Value) -> Vec<Value> {
    let mut others = Vec::new();
    for (name, member) in MEMBERS.iter().filter(|(name, _)| *name != "id") {
        let value = plant.get(name);
        let another = match member.kind.as_str() {
            "string" => json!(value.and_then(Value::as_str).unwrap_or_default().to_owned() + "x"),
            _ => json!(if value == Some(&json!(1)) { 2 } else { 1 }),
        };
        let mut other = plant.clone();
        other[name] = another;
        others.push(other);
        if value.is_some() && !member.is_required {
            let mut without = plant.clone();
            without.as_object_mut().expect("an object").remove(name);
            others.push(without);
        }
    }
    others
}

/// A map holds what the store should hold: the first plant of each id. The same plant again, in
/// another spelling, is a 200, and a different one is a 409. The export equals the map, before and
/// after restarts.
#[test]
fn every_plant_is_stored_compared_answered_and_exported_byte_for_byte() {
    let mut server = Server::start();
    let expected = RefCell::new(BTreeMap::new());
    for signal in [Signal::SIGTERM, Signal::SIGKILL] {
        let connection = RefCell::new(server.connect());
        let send = |body: &[u8]| connection.borrow_mut().exchange(&post(&server.bearer(), body));
        let holds = |(plant, body): (Value, Vec<u8>)| {
            let answer = send(&body);
            let id = plant["id"].as_i64().expect("an id");
            if *expected.borrow_mut().entry(id).or_insert_with(|| plant.clone()) != plant {
                prop_assert_eq!(answer.error(), 409);
                return Ok(());
            }
            let mut members = plant.clone();
            members.as_object_mut().expect("an object").remove("id");
            prop_assert_eq!(answer.plant(), members.clone());
            prop_assert_eq!(send(plant.to_string().as_bytes()).plant(), members);
            for other in others(&plant) {
                let again = send(other.to_string().as_bytes());
                prop_assert_eq!(again.error(), 409, "{}", other);
            }
            Ok(())
        };
        runner(150).run(&spelled_plant(), holds).unwrap();
        let plants: Vec<_> = expected.borrow().values().cloned().collect();
        assert_eq!(exported(&server), plants);
        server = server.stopped_by(signal).start();
        assert_eq!(exported(&server), plants);
    }
}

fn exported(server: &Server) -> Vec<Value> {
    let lines = server.command(&["export"]);
    lines.lines().map(|line| serde_json::from_str(line).expect("a plant on each line")).collect()
}
