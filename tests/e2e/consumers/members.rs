//! What `plants` says of the members of a plant before it sends one.

use std::fs::File;

use plant_store_tests::Server;
use serde_json::Value;

use super::import::{Reason, counts, reasons};
use super::{Ran, plants, run, write};

const MISTYPED: &str = r#"{"id":1,"name":"Fern","tags":"indoor"}"#;
const REFUSAL: &str = "`tags` is not a member of NewPlant (nearest: `tag`): correct it, or add \
                       --ignore-unknown";

/// Otherwise the plant is stored without what the member says, and the corrected line gets 409.
#[test]
fn import_refuses_a_member_that_the_contract_does_not_have_and_the_corrected_line_is_created() {
    let server = Server::start();
    write(&server, "plants.jsonl", MISTYPED);
    let Ran { status, printed, said } = run(&mut plants(&server, &["import", "plants.jsonl"]));
    assert_eq!((status, counts(&printed)), (Some(1), [0, 1, 0]), "{said}");
    let expected = [Reason { line: 1, error: Some(400), message: REFUSAL.to_owned() }];
    assert_eq!(reasons(&server, "plants.jsonl.rejected"), expected);
    assert!(server.export().is_empty());
    write(&server, "plants.jsonl", MISTYPED.replace("tags", "tag"));
    let Ran { status, said, .. } = run(&mut plants(&server, &["import", "plants.jsonl"]));
    assert_eq!((status, said.as_str()), (Some(0), ""));
    assert_eq!(server.export()[&1].tag.as_deref(), Some("indoor"));
}

#[test]
fn import_with_ignore_unknown_creates_plants_without_the_members_that_the_contract_does_not_have() {
    let server = Server::start();
    write(&server, "plants.jsonl", MISTYPED);
    write(&server, "plants.csv", "tags,name,size,id\nindoor,Ficus,\"a,b\",2\n");
    for (file, id) in [("plants.jsonl", 1), ("plants.csv", 2)] {
        let import = ["import", file, "--ignore-unknown"];
        let Ran { status, printed, said } = run(&mut plants(&server, &import));
        assert_eq!((status, counts(&printed)), (Some(0), [1, 0, 0]), "{said}");
        assert_eq!(server.export()[&id].tag, None);
    }
}

#[test]
fn json_body_with_a_member_that_the_contract_does_not_have_is_not_sent_but_by_ignore_unknown() {
    let server = Server::start();
    write(&server, "fern.json", MISTYPED);
    let create = ["create-plant", "--json-body", "fern.json"];
    let Ran { status, printed, said } = run(&mut plants(&server, &create));
    assert_eq!((status, printed.as_str()), (Some(2), ""), "{said}");
    assert!(said.contains("fern.json") && said.contains(REFUSAL), "{said}");
    assert!(server.export().is_empty());
    let create = [&create[..], &["--ignore-unknown"]].concat();
    assert_eq!(run(&mut plants(&server, &create)).status, Some(0));
    assert_eq!(server.export().len(), 1);
}

#[test]
fn json_body_of_a_dash_is_standard_input() {
    let server = Server::start();
    write(&server, "fern.json", r#"{"id":1,"name":"Fern"}"#);
    let fern = File::open(server.folder().join("fern.json")).expect("it is there");
    let mut create = plants(&server, &["create-plant", "--json-body", "-"]);
    let Ran { status, said, .. } = run(create.stdin(fern));
    assert_eq!((status, said.as_str()), (Some(0), ""));
    assert_eq!(server.export()[&1].name, "Fern");
}

/// The message of a dry run about the second line of a file, or `None` if that is a plant.
fn said_by_a_dry_run(server: &Server, file: &str) -> Option<String> {
    let mut dry_run = plants(server, &["import", file, "--dry-run", "--ignore-unknown"]);
    let Ran { status, said, .. } = run(&mut dry_run);
    if status == Some(0) {
        assert_eq!(said, "");
        return None;
    }
    let reason: Value = serde_json::from_str(&said).expect("one reason");
    Some(reason["message"].as_str().expect("text").to_owned())
}

/// The message of the service about this body as the second line of a file.
fn said_by_the_service(server: &Server, body: &str) -> Option<String> {
    let answer = server.create(body);
    let is_refused = answer.status != 200;
    is_refused.then(|| answer.refusal().1.replace(" at line 1 ", " at line 2 "))
}

#[test]
fn dry_run_and_the_service_say_the_same_of_a_line() {
    let server = Server::start();
    for body in [
        r#"{"id":1,"name":"Fern","tag":null}"#,
        r#"{"id":007,"name":"Fern"}"#,
        r#"{"id":-0,"name":"Fern"}"#,
        r#"{"id":1.0,"name":"Fern"}"#,
        r#"{"id":1e3,"name":"Fern"}"#,
        r#"{"id":"1","name":"Fern"}"#,
        r#"{"id":9223372036854775807,"name":"Fern"}"#,
        r#"{"id":9223372036854775808,"name":"Fern"}"#,
        r#"{"id":null,"name":"Fern"}"#,
        r#"{"id":2}"#,
        r#"{"name":"Fern"}"#,
        r#"{"id":3,"name":"Fern","id":3}"#,
        r#"{"id":3,"name":"Fern","x":1,"\u0078":2}"#,
        r#"{"id":4,"name":["Fern"]}"#,
        r#"{"id":4,"name":"\ud800"}"#,
        r#"{"id":5,"name":"Fern","x":[{"y":-0}]}"#,
        r#"{"id":6,"name":"Fern"} {}"#,
        r#"[7,"Fern"]"#,
        "null",
        "{",
        "Fern",
    ] {
        write(&server, "plants.jsonl", format!("{{\"id\":99,\"name\":\"Fern\"}}\n{body}"));
        let expected = said_by_the_service(&server, body);
        assert_eq!(said_by_a_dry_run(&server, "plants.jsonl"), expected, "{body}");
    }
    for (row, body) in [
        ("007,Fern,", r#"{"id":"007","name":"Fern"}"#),
        ("0x10,Fern,", r#"{"id":"0x10","name":"Fern"}"#),
        (" 16,Fern,", r#"{"id":" 16","name":"Fern"}"#),
        ("1e3,Fern,", r#"{"id":1e3,"name":"Fern"}"#),
        ("-0,Ficus,", r#"{"id":-1,"name":"Ficus"}"#),
        (",Fern,", r#"{"name":"Fern"}"#),
        ("8,,", r#"{"id":8}"#),
    ] {
        write(&server, "plants.csv", format!("id,name,tag\n{row}\n"));
        let expected = said_by_the_service(&server, body);
        assert_eq!(said_by_a_dry_run(&server, "plants.csv"), expected, "{row}");
    }
}
