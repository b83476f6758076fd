//! A property of every plant, tested on many random plants.

use std::cell::RefCell;
use std::collections::BTreeMap;

use plant_store_tests::prelude::*;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};

/// Generates strings of any characters, often of characters that JSON escapes.
fn text() -> impl Strategy<Value = String> {
    let common = select(vec!['a', '"', '\\', '/', '\0', '\n', '\u{7f}', 'é', '🌱']);
    vec(prop_oneof![common, any::<char>()], 0..12).prop_map(String::from_iter)
}

/// Generates NewPlants. Several often have the same id.
fn new_plant() -> impl Strategy<Value = Value> {
    let id = prop_oneof![any::<i64>(), -9..9_i64, Just(i64::MIN), Just(i64::MAX)];
    (id, text(), option::of(text())).prop_map(|(id, name, tag)| {
        serde_json::from_str(&plant(id, &name, tag.as_deref())).expect("JSON")
    })
}

/// Returns the same plant with its members in reverse order and all characters escaped.
fn other_spelling(plant: &Value) -> String {
    let escaped = |text: &str| {
        let units = text.encode_utf16().map(|unit| format!("\\u{unit:04x}"));
        format!("\"{}\"", units.collect::<String>())
    };
    let members = plant.as_object().expect("an object").iter().rev();
    let members = members.map(|(name, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), escaped);
        format!("{} : {value}", escaped(name))
    });
    format!("{{ {} }}", members.collect::<Vec<_>>().join(" , "))
}

/// A map contains what the store should contain: the first plant with each id. Sending the same
/// plant again, in another spelling, is a 200; sending a different plant is a 409. The export
/// equals the map, before and after restarts.
#[test]
fn every_plant_survives_byte_for_byte() {
    let mut server = Server::start();
    let expected = RefCell::new(BTreeMap::new());
    for signal in [Signal::SIGTERM, Signal::SIGKILL] {
        let connection = RefCell::new(server.connect());
        let send = |body: &str| connection.borrow_mut().exchange(&server.post(body));
        let check = |plant: Value| {
            let answer = send(&plant.to_string());
            let id = plant["id"].as_i64().expect("an id");
            if *expected.borrow_mut().entry(id).or_insert_with(|| plant.clone()) != plant {
                prop_assert_eq!(answer.error(), 409);
                return Ok(());
            }
            let mut members = plant.clone();
            members.as_object_mut().expect("an object").remove("id");
            prop_assert_eq!(answer.plant(), members.clone());
            prop_assert_eq!(send(&other_spelling(&plant)).plant(), members);
            let mut other = plant.clone();
            other["name"] = format!("{}x", other["name"]).into();
            prop_assert_eq!(send(&other.to_string()).error(), 409, "{}", other);
            Ok(())
        };
        // Without persistence, proptest writes no file.
        let config = Config { cases: 150, failure_persistence: None, ..Config::default() };
        TestRunner::new(config).run(&new_plant(), check).unwrap();
        let plants: Vec<_> = expected.borrow().values().cloned().collect();
        assert_eq!(exported(&server), plants);
        server = server.stopped_by(signal).start();
        assert_eq!(exported(&server), plants);
    }
}

fn exported(server: &Server) -> Vec<Value> {
    let lines = server.run("export").succeeded();
    lines.lines().map(|line| serde_json::from_str(line).expect("a plant on each line")).collect()
}
