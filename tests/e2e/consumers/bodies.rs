//! `create-plant --json-body`. It shares its parser with `import`: the parser is as strict as the
//! service, and also refuses members that the service would ignore.

use std::fs::File;

use plant_store_tests::Server;
use serde_json::Value;

use super::import::import;
use super::{Finished, plants, run, write};

const BODY: [&str; 3] = ["create-plant", "--json-body", "plant.json"];
const MISTYPED: &str = r#"{"id":1,"name":"Fern","tags":"indoor"}"#;
const REFUSAL: &str = "the contract has no member `tags`: correct the name, or add";

/// The service refuses each of these bodies, except that it ignores the unknown member.
#[test]
fn both_commands_refuse_a_body_that_is_not_exactly_a_plant() {
    let server = Server::start();
    for (body, expected) in [
        (r#"[1,"Fern","x"]"#, "it is not a JSON object"),
        (r#"[{"id":1,"name":"Fern"}]"#, "it is not a JSON object"),
        ("null", "it is not a JSON object"),
        ("", "it is not a JSON object"),
        (MISTYPED, REFUSAL),
        (
            r#"{"id":1,"name":"Fern","tag":null}"#,
            "`tag`: null is not allowed: leave the member out",
        ),
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
        let Finished { exit_code, stdout, stderr } = run(&mut plants(&server, &BODY));
        assert_eq!((exit_code, stdout.as_str()), (Some(2), ""), "{body}: {stderr}");
        assert!(stderr.starts_with("plants: failed to parse plant.json: "), "{body}: {stderr}");
        assert!(stderr.contains(expected), "{body}: {stderr}");
        if !body.is_empty() {
            let imported = import(&mut plants(&server, &["import", "plant.json"]));
            assert_eq!((imported.exit_code, imported.counts), (Some(1), [0, 1, 0]), "{imported:?}");
            assert!(imported.rejected[0].message.contains(expected), "{imported:?}");
        }
    }
    assert!(server.export().is_empty());
}

/// Without the flag such a plant is refused: it would be stored without the member's value, and the
/// corrected line would get 409.
#[test]
fn ignore_unknown_sends_plants_without_unknown_members() {
    let server = Server::start();
    write(&server, "plants.jsonl", MISTYPED);
    write(&server, "plants.csv", "tags,name,size,id\nindoor,Ficus,\"a,b\",2\n");
    write(&server, "plant.json", MISTYPED.replace(":1", ":3"));
    for arguments in [&["import", "plants.jsonl"][..], &["import", "plants.csv"], &BODY] {
        let arguments = [arguments, &["--ignore-unknown"]].concat();
        let Finished { exit_code, stderr, .. } = run(&mut plants(&server, &arguments));
        assert_eq!(exit_code, Some(0), "{stderr}");
    }
    let stored = server.export();
    assert_eq!(stored.keys().copied().collect::<Vec<_>>(), [1, 2, 3]);
    assert!(stored.values().all(|plant| plant.tag.is_none()));
    let flags = ["create-plant", "--id", "1", "--name", "Fern", "--ignore-unknown"];
    assert_eq!(run(&mut plants(&server, &flags)).exit_code, Some(2));
}

#[test]
fn body_from_a_file_or_stdin_may_have_a_byte_order_mark() {
    let server = Server::start();
    write(&server, "plant.json", "\u{feff}{\n  \"id\": 1,\r\n  \"name\": \"Fern\"\n}\n");
    for arguments in [BODY, ["create-plant", "--json-body", "-"]] {
        let body = File::open(server.folder().join("plant.json")).expect("the file exists");
        let Finished { exit_code, stdout, stderr } = run(plants(&server, &arguments).stdin(body));
        assert_eq!(exit_code, Some(0), "{stderr}");
        assert_eq!(serde_json::from_str::<Value>(&stdout).expect("JSON")["name"], "Fern");
    }
    write(&server, "plants.jsonl", "\u{feff}{\"id\":1,\"name\":\"Fern\"}");
    let imported = import(&mut plants(&server, &["import", "plants.jsonl"]));
    assert!(imported.is_success(1), "{imported:?}");
}

#[test]
fn body_larger_than_1_mib_is_not_read() {
    let server = Server::start();
    let arguments = ["create-plant", "--json-body", "/dev/zero"];
    let Finished { stderr, .. } = run(&mut plants(&server, &arguments));
    assert!(stderr.contains("it contains a NUL"), "{stderr}");
    write(&server, "plant.json", format!("{{{}", " ".repeat(1 << 20)));
    let Finished { exit_code, stderr, .. } = run(&mut plants(&server, &BODY));
    assert_eq!(exit_code, Some(2));
    assert!(stderr.contains("failed to read plant.json: it is larger than 1 MiB"), "{stderr}");
}
