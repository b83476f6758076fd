//! `plants import` of CSV files: what people save from a spreadsheet. No plant that the file does
//! not say is created.

use plant_store_tests::Server;
use serde_json::{Value, json};

use super::import::{Reason, counts, reasons, rejected};
use super::{Ran, plants, run, write};
use crate::without_store::contract::document;

/// The export of the server's store, as a list.
fn stored(server: &Server) -> Value {
    serde_json::to_value(server.export().into_values().collect::<Vec<_>>()).expect("JSON")
}

#[test]
fn csv_has_a_header_and_an_empty_field_is_an_absent_member() {
    let server = Server::start();
    let text = "name,id,tag\nFern,1,\n\"Ficus \"\"lyrata\"\",\nthe second\",2,indoor\nFern,three,\n\
                Fern,4\nMonstera,5,tropical\n";
    write(&server, "plants.csv", text);
    let Ran { status, printed, said } = run(&mut plants(&server, &["import", "plants.csv"]));
    assert_eq!((status, counts(&printed)), (Some(1), [3, 2, 0]), "{said}");
    let refused = [(5, Some(400)), (6, Some(400))];
    assert_eq!(rejected(&server, "plants.csv.rejected"), refused);
    let expected = json!([
        {"id": 1, "name": "Fern"},
        {"id": 2, "name": "Ficus \"lyrata\",\nthe second", "tag": "indoor"},
        {"id": 5, "name": "Monstera", "tag": "tropical"},
    ]);
    assert_eq!(stored(&server), expected);

    write(&server, "windows.csv", "id,name\r\n6,Fern\r\nseven,Fern\r\n8,Fern\r\nnine,Fern");
    assert_eq!(run(&mut plants(&server, &["import", "windows.csv"])).status, Some(1));
    let refused = [(3, Some(400)), (5, Some(400))];
    assert_eq!(rejected(&server, "windows.csv.rejected"), refused);
}

/// What is under way when the import ends is created, and counted.
#[test]
fn csv_that_cannot_be_read_on_ends_the_import_and_says_so() {
    let rows = (0..500).map(|id| format!("{id},Fern\n")).collect::<Vec<_>>().concat();
    let many = "501,Fern\n".repeat(300_000);
    for (at_the_fault, expected) in [
        (format!("500,\"Ficus\n{many}"), "a quote not closed"),
        (format!("\"500,Ficus\n{many}"), "a quote not closed"),
        ("500,Fer\rn\n501,Fern\n".to_owned(), "line 502 has a CR that no LF follows"),
    ] {
        let server = Server::start();
        write(&server, "plants.csv", format!("id,name\n{rows}{at_the_fault}"));
        let Ran { status, printed, said } = run(&mut plants(&server, &["import", "plants.csv"]));
        assert_eq!((status, counts(&printed)), (Some(1), [500, 0, 0]), "{said}");
        assert!(said.contains(expected), "{said}");
        assert_eq!(server.export().len(), 500);
    }
}

#[test]
fn csv_whose_header_does_not_name_the_members_is_2_and_nothing_is_sent() {
    let schema = &document()["components"]["schemas"]["NewPlant"];
    let required = schema["required"].as_array().expect("a list");
    let columns = schema["properties"].as_object().expect("an object").keys().map(|member| {
        let is_required = required.iter().any(|name| name == member);
        if is_required { member.clone() } else { format!("{member} (optional)") }
    });
    let columns = columns.collect::<Vec<_>>().join(", ");
    let expected = format!("expected is a header with {columns}, separated by commas");
    let server = Server::start();
    for (text, found) in [
        ("id,name,tags\n1,Fern,indoor\n", r#"unknown column "tags";"#),
        ("888,x\n889,y\n", r#"unknown column "888";"#),
        ("id;name;tag\n1;Fern;indoor\n", r#"unknown column "id;name;tag";"#),
        ("id, name\n1,Fern\n", r#"unknown column " name";"#),
        ("ID,Name\n1,Fern\n", r#"unknown column "ID";"#),
        ("id,name,id\n1,Fern,2\n", r#"column "id" twice;"#),
        ("id,tag\n1,indoor\n", r#"no column "name";"#),
        ("id,name,\n1,Fern,\n", r#"unknown column "";"#),
        ("id,\"name\n1,Fern\n", r#"unknown column "name\n1,Fern\n";"#),
        ("\u{feff}id\u{1b}[2J,name\n1,Fern\n", r#"unknown column "id\u{1b}[2J";"#),
        ("id,name\r1,Fern\r", "line 1 has a CR that no LF follows"),
        ("", "the file has no header;"),
        ("\n\n", "the file has no header;"),
    ] {
        write(&server, "plants.csv", text);
        let Ran { status, printed, said } = run(&mut plants(&server, &["import", "plants.csv"]));
        assert_eq!((status, printed.as_str()), (Some(2), ""), "{text:?}: {said}");
        assert!(said.starts_with("plants: cannot import plants.csv: "), "{said}");
        assert!(said.contains(found) && said.lines().count() == 1, "{text:?}: {said}");
        if found.ends_with(';') {
            assert!(said.contains(&expected), "{said}");
        }
    }
    assert!(server.export().is_empty());
}

#[test]
fn csv_of_a_spreadsheet_is_imported() {
    let server = Server::start();
    for text in [
        "\u{feff}id,name,tag\r\n1,Fern,indoor\r\n2,Ficus,\r\n",
        "\"tag\",\"name\",\"id\"\n\"indoor\",\"Fern\",\"1\"\n\"\",\"Ficus\",2",
        "\n\nid,tag,name\n\n1,indoor,Fern\n\r\n2,,Ficus\n\n",
    ] {
        write(&server, "plants.CSV", text);
        let Ran { status, printed, said } = run(&mut plants(&server, &["import", "plants.CSV"]));
        assert_eq!((status, counts(&printed), said.as_str()), (Some(0), [2, 0, 0], ""), "{text:?}");
    }
    let expected =
        [json!({"id": 1, "name": "Fern", "tag": "indoor"}), json!({"id": 2, "name": "Ficus"})];
    assert_eq!(stored(&server), json!(expected));
    write(&server, "header.csv", "id,name\n");
    let Ran { status, printed, said } = run(&mut plants(&server, &["import", "header.csv"]));
    assert_eq!((status, counts(&printed), said.as_str()), (Some(0), [0, 0, 0], ""));
}

/// What the service refuses has the service's own message; the import refuses only rows that could
/// be taken for others. A field that goes on after its closing quote is read as the crate `csv`
/// does.
#[test]
fn csv_row_that_is_no_plant_is_rejected_with_the_message_of_the_service_and_its_line() {
    let server = Server::start();
    let text = b"id,name,tag\r\n\r\n777001,,\r\n0x10,Fern,\r\n\"18\",\"a\r\nb\",\r\n 16,Fern,\r\n\
        007,Fern,\r\n1e3,Fern,\r\n99999999999999999999,Fern,\r\nnull,Fern,\r\n,,\r\n\
        20,\\\x01,42\r\n21,F\xe9e,\r\n22,12\" pot,\r\n23,Fern\r\n24,Fern,,\r\n\
        28,\"a\"b,\r\n29,\"a\" ,\r\n25,Fern,\r\n26,\"Fern,\r\n27,Ficus,\r\n";
    write(&server, "plants.csv", text);
    let Ran { status, printed, said } = run(&mut plants(&server, &["import", "plants.csv"]));
    assert_eq!((status, counts(&printed)), (Some(1), [5, 13, 0]), "{said}");
    let expected = json!([
        {"id": 18, "name": "a\r\nb"},
        {"id": 20, "name": "\\\u{1}", "tag": "42"},
        {"id": 25, "name": "Fern"},
        {"id": 28, "name": "ab"},
        {"id": 29, "name": "a "},
    ]);
    assert_eq!(stored(&server), expected);
    // For each line, the body that has the same message.
    for (Reason { line, message, .. }, (expected_line, body)) in
        reasons(&server, "plants.csv.rejected").into_iter().zip([
            (3, Ok(r#"{"id":777001}"#)),
            (4, Ok(r#"{"id":"0x10","name":"Fern"}"#)),
            (7, Ok(r#"{"id":" 16","name":"Fern"}"#)),
            (8, Ok(r#"{"id":"007","name":"Fern"}"#)),
            (9, Ok(r#"{"id":1e3,"name":"Fern"}"#)),
            (10, Ok(r#"{"id":99999999999999999999,"name":"Fern"}"#)),
            (11, Ok(r#"{"id":"null","name":"Fern"}"#)),
            (12, Ok("{}")),
            (14, Err("0xE9 at line 14 column 5 is not UTF-8")),
            (15, Err("neither doubled nor at an end of its field")),
            (16, Err("the row has 2 fields, the header has 3")),
            (17, Err("the row has 4 fields, the header has 3")),
            (21, Err("at an end of its field (lines 21 to 22)")),
        ])
    {
        assert_eq!(line, expected_line, "{message}");
        match body {
            Ok(body) => assert_eq!(message, server.create(body).refusal().1),
            Err(expected) => assert!(message.contains(expected), "{line}: {message}"),
        }
    }
}
