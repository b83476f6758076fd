//! `plants import` of CSV files: what people save from a spreadsheet, as the crate `csv` reads it.

use plant_store_tests::Server;
use serde_json::{Value, json};

use super::import::{Reason, counts, reasons};
use super::{Ran, plants, run, write};

/// The export of the server's store, as a list.
fn stored(server: &Server) -> Value {
    serde_json::to_value(server.export().into_values().collect::<Vec<_>>()).expect("JSON")
}

#[test]
fn csv_of_a_spreadsheet_is_imported_and_an_empty_optional_field_is_an_absent_member() {
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
    for text in ["id,name\n", ""] {
        write(&server, "header.csv", text);
        let Ran { status, printed, said } = run(&mut plants(&server, &["import", "header.csv"]));
        assert_eq!((status, counts(&printed), said.as_str()), (Some(0), [0, 0, 0], ""));
    }
}

#[test]
fn csv_row_that_is_no_plant_is_rejected_with_its_line_and_why() {
    let server = Server::start();
    let text = b"id,name,tag\n1,\"12\"\" pot\",42\nthree,Fern,\n,Fern,\n5,F\xe9e,\n6,Fern\n\
        7,Fern,,\n8,Fern,indoor\n9,\"Fern,\n10,Ficus,\n";
    write(&server, "plants.csv", text);
    let Ran { status, printed, said } = run(&mut plants(&server, &["import", "plants.csv"]));
    assert_eq!((status, counts(&printed)), (Some(1), [2, 6, 0]), "{said}");
    let expected = [
        json!({"id": 1, "name": "12\" pot", "tag": "42"}),
        json!({"id": 8, "name": "Fern", "tag": "indoor"}),
    ];
    assert_eq!(stored(&server), json!(expected));
    let expected = [
        (3, "`id`: invalid digit found"),
        (4, "`id`: cannot parse integer from empty string"),
        (5, "`name`: invalid utf-8"),
        (6, "the row has 2 fields, the header has 3"),
        (7, "the row has 4 fields"),
        (9, "2 fields"),
    ];
    let reasons = reasons(&server, "plants.csv.rejected");
    assert_eq!(reasons.len(), expected.len());
    for (Reason { line, message, .. }, expected) in reasons.iter().zip(expected) {
        assert_eq!(*line, expected.0, "{message}");
        assert!(message.contains(expected.1), "{line}: {message}");
    }
}

/// `csv` takes all that follows for the name. Nothing of it may become a plant.
#[test]
fn csv_quote_that_is_not_closed_is_rejected_with_the_rows_behind_it() {
    let server = Server::start();
    for (text, created) in [
        ("id,name\n1,Fern\n2,\"Ficus\n3,Fern\n4,Fern\n", 1),
        ("id,name\n1,Fern\n2,\"Ficus\n3,Fern\n4,\"Fern\"\n5,Fern\n", 2),
    ] {
        write(&server, "plants.csv", text);
        let Ran { status, printed, .. } = run(&mut plants(&server, &["import", "plants.csv"]));
        assert_eq!((status, counts(&printed)), (Some(1), [created, 1, 0]), "{text}");
    }
    let reasons = reasons(&server, "plants.csv.rejected");
    assert!(reasons[0].message.contains("is a quote not closed?"), "{reasons:?}");
    assert_eq!(server.export().into_keys().collect::<Vec<_>>(), [1, 5]);
}

#[test]
fn csv_with_a_column_that_the_contract_does_not_have_is_2_and_nothing_is_sent() {
    let server = Server::start();
    for (text, unknown) in [
        ("id,name,tags\n1,Fern,indoor\n", "tags"),
        ("888,x\n889,y\n", "888"),
        ("id;name;tag\n1;Fern;indoor\n", "id;name;tag"),
        ("id, name\n1,Fern\n", " name"),
        ("id,name,\n1,Fern,\n", ""),
    ] {
        write(&server, "plants.csv", text);
        let Ran { status, printed, said } = run(&mut plants(&server, &["import", "plants.csv"]));
        assert_eq!((status, printed.as_str()), (Some(2), ""), "{text:?}: {said}");
        let expected = format!("the header has the unknown column {unknown:?}: correct it");
        assert!(said.contains(&expected), "{text:?}: {said}");
    }
    assert!(server.export().is_empty());
}
