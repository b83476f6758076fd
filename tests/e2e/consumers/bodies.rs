//! `create-plant --json-body`, and what it has in common with `import`: one reader, as strict as the
//! service, which also refuses members that the service would ignore.

use std::fs::File;

use plant_store_tests::Server;
use serde_json::Value;

use super::import::import;
use super::{Ran, plants, run, write};

const BODY: [&str; 3] = ["create-plant", "--json-body", "plant.json"];
const MISTYPED: &str = r#"{"id":1,"name":"Fern","tags":"indoor"}"#;
const REFUSAL: &str = "`tags` is no member that the contract has: correct it, or add";

/// The service refuses each of them, but for the unknown member, which it ignores.
#[test]
fn body_that_is_not_exactly_a_plant_is_refused_by_both_commands() {
    let server = Server::start();
    for (body, expected) in [
        (r#"[1,"Fern","x"]"#, "it is not a JSON object"),
        (r#"[{"id":1,"name":"Fern"}]"#, "it is not a JSON object"),
        ("null", "it is not a JSON object"),
        ("", "it is not a JSON object"),
        (MISTYPED, REFUSAL),
        (r#"{"id":1,"name":"Fern","tag":null}"#, "`tag`: null: leave the member out"),
        (r#"{"id":1,"name":"Fern","name":"Fern"}"#, "duplicate field `name`"),
        (r#"{"id":1,"name":"Fern"} {}"#, "trailing characters"),
        (r#"{"id":1,"name":"Fern""#, "EOF while parsing"),
        (r#"{"id":1}"#, "missing field `name`"),
        (r#"{"id":"1","name":"Fern"}"#, "`id`: invalid type: string \"1\", expected i64"),
        (r#"{"id":1.0,"name":"Fern"}"#, "`id`: invalid type: floating point `1.0`"),
        (r#"{"id":1e3,"name":"Fern"}"#, "`id`: invalid type: floating point `1000.0`"),
        (r#"{"id":9223372036854775808,"name":"Fern"}"#, "`id`: invalid value"),
        (r#"{"id":+1,"name":"Fern"}"#, "expected value"),
        (r#"{"id":01,"name":"Fern"}"#, "invalid number"),
        (r#"{"id":0x1,"name":"Fern"}"#, "expected `,` or `}`"),
        (r#"{"id":1,"name":"\ud800"}"#, "hex escape"),
    ] {
        write(&server, "plant.json", body);
        let Ran { status, printed, said } = run(&mut plants(&server, &BODY));
        assert_eq!((status, printed.as_str()), (Some(2), ""), "{body}: {said}");
        assert!(said.starts_with("plants: failed to parse plant.json: "), "{body}: {said}");
        assert!(said.contains(expected), "{body}: {said}");
        if !body.is_empty() {
            let imported = import(&mut plants(&server, &["import", "plant.json"]));
            assert_eq!((imported.status, imported.counts), (Some(1), [0, 1, 0]), "{imported:?}");
            assert!(imported.rejected[0].message.contains(expected), "{imported:?}");
        }
    }
    assert!(server.export().is_empty());
}

/// Otherwise the plant is stored without what the member says, and the corrected line gets 409.
#[test]
fn ignore_unknown_sends_a_plant_without_the_members_that_the_contract_does_not_have() {
    let server = Server::start();
    write(&server, "plants.jsonl", MISTYPED);
    write(&server, "plants.csv", "tags,name,size,id\nindoor,Ficus,\"a,b\",2\n");
    write(&server, "plant.json", MISTYPED.replace(":1", ":3"));
    for words in [&["import", "plants.jsonl"][..], &["import", "plants.csv"], &BODY] {
        let words = [words, &["--ignore-unknown"]].concat();
        let Ran { status, said, .. } = run(&mut plants(&server, &words));
        assert_eq!(status, Some(0), "{said}");
    }
    let stored = server.export();
    assert_eq!(stored.keys().copied().collect::<Vec<_>>(), [1, 2, 3]);
    assert!(stored.values().all(|plant| plant.tag.is_none()));
    let flags = ["create-plant", "--id", "1", "--name", "Fern", "--ignore-unknown"];
    assert_eq!(run(&mut plants(&server, &flags)).status, Some(2));
}

#[test]
fn body_is_read_from_a_file_or_stdin_and_a_byte_order_mark_is_passed_over() {
    let server = Server::start();
    write(&server, "plant.json", "\u{feff}{\n  \"id\": 1,\r\n  \"name\": \"Fern\"\n}\n");
    for words in [BODY, ["create-plant", "--json-body", "-"]] {
        let body = File::open(server.folder().join("plant.json")).expect("it is there");
        let Ran { status, printed, said } = run(plants(&server, &words).stdin(body));
        assert_eq!(status, Some(0), "{said}");
        assert_eq!(serde_json::from_str::<Value>(&printed).expect("JSON")["name"], "Fern");
    }
    write(&server, "plants.jsonl", "\u{feff}{\"id\":1,\"name\":\"Fern\"}");
    let imported = import(&mut plants(&server, &["import", "plants.jsonl"]));
    assert!(imported.is_success(1), "{imported:?}");
}

#[test]
fn body_larger_than_a_mebibyte_is_not_read() {
    let server = Server::start();
    let words = ["create-plant", "--json-body", "/dev/zero"];
    let Ran { said, .. } = run(&mut plants(&server, &words));
    assert!(said.contains("it holds a NUL"), "{said}");
    write(&server, "plant.json", format!("{{{}", " ".repeat(1 << 20)));
    let Ran { status, said, .. } = run(&mut plants(&server, &BODY));
    assert_eq!(status, Some(2));
    assert!(said.contains("failed to read plant.json: it is larger than 1 MiB"), "{said}");
}
