//! `plants import` of CSV, as spreadsheets save it.

use plant_store_tests::Server;
use serde_json::{Value, json};

use super::import::{Imported, Rejected, import};
use super::{Finished, plants, run, write};

/// Returns the plants in the server's store as a JSON list.
fn stored(server: &Server) -> Value {
    serde_json::to_value(server.export().into_values().collect::<Vec<_>>()).expect("JSON")
}

#[test]
fn csv_of_a_spreadsheet_is_imported() {
    let server = Server::start();
    for (text, arguments) in [
        ("\u{feff}id,name,tag\r\n1,Fern,indoor\r\n2,Ficus,\r\n", &[][..]),
        ("\"tag\",\"name\",\"id\"\n\"indoor\",\"Fern\",\"1\"\n\"\",\"Ficus\",2", &[]),
        ("\n\nid,tag,name\n\n1,indoor,Fern\n\r\n2,,Ficus\n\n", &[]),
        ("\u{feff}id;name;tag\r\n1;Fern;indoor\r\n2;Ficus;\r\n", &["--delimiter", ";"]),
        ("id\tname\ttag\r\n1\tFern\tindoor\r\n2\tFicus\t\r\n", &["--delimiter", r"\t"]),
        ("id\tname\ttag\n1\tFern\tindoor\n2\tFicus\t\n", &["--delimiter", "\t"]),
    ] {
        write(&server, "plants.CSV", text);
        let imported =
            import(&mut plants(&server, &[&["import", "plants.CSV"], arguments].concat()));
        assert!(imported.is_success(2), "{text:?}: {imported:?}");
    }
    let expected =
        [json!({"id": 1, "name": "Fern", "tag": "indoor"}), json!({"id": 2, "name": "Ficus"})];
    assert_eq!(stored(&server), json!(expected));
    for text in ["id,name\n", ""] {
        write(&server, "header.csv", text);
        let imported = import(&mut plants(&server, &["import", "header.csv"]));
        assert!(imported.is_success(0), "{imported:?}");
    }
}

#[test]
fn delimiter_implies_csv() {
    let server = Server::start();
    write(&server, "plants.txt", "id|name\n1|Fern\n");
    let arguments = ["import", "plants.txt", "--delimiter", "|"];
    let imported = import(&mut plants(&server, &arguments));
    assert!(imported.is_success(1), "{imported:?}");
    for (arguments, expected) in [
        (
            ["plants.txt", "--delimiter", "|", "--format", "jsonl"],
            "--delimiter does not apply to JSON lines",
        ),
        (["plants.txt", "--delimiter", "||", "--format", "csv"], "expected one character"),
    ] {
        let Finished { exit_code, stdout, stderr } =
            run(&mut plants(&server, &[&["import"], &arguments[..]].concat()));
        assert_eq!((exit_code, stdout.as_str()), (Some(2), ""), "{stderr}");
        assert!(stderr.contains(expected), "{stderr}");
    }
}

#[test]
fn csv_row_that_is_not_a_plant_is_rejected_with_its_line() {
    let server = Server::start();
    let text = b"id,name,tag\n1,\"12\"\" pot\",42\nthree,Fern,\n,Fern,\n5,F\xe9e,\n6,Fern\n\
        7,Fern,,\n8,Fern,indoor\n9,\"Fern,\n10,Ficus,\n";
    write(&server, "plants.csv", text);
    let Imported { exit_code, counts, rejected, stderr, .. } =
        import(&mut plants(&server, &["import", "plants.csv"]));
    assert_eq!((exit_code, counts), (Some(1), [2, 6, 0]), "{stderr}");
    let expected = [
        json!({"id": 1, "name": "12\" pot", "tag": "42"}),
        json!({"id": 8, "name": "Fern", "tag": "indoor"}),
    ];
    assert_eq!(stored(&server), json!(expected));
    let expected = [
        (3, "`id`: invalid digit found in string", "three,Fern,"),
        (4, "`id`: cannot parse integer from empty string", ",Fern,"),
        (5, "`name`: byte 2 is not UTF-8: convert the file", "5,F\u{fffd}e,"),
        (6, "the row has 2 fields, but the header has 3", "6,Fern"),
        (7, "the row has 4 fields", "7,Fern,,"),
        (9, "2 fields", "9,\"Fern,\n10,Ficus,\n\""),
    ];
    assert_eq!(rejected.len(), expected.len());
    for (Rejected { line, message, text, .. }, expected) in rejected.iter().zip(expected) {
        assert_eq!((*line, text.as_deref()), (expected.0, Some(expected.2)), "{message}");
        assert!(message.contains(expected.1), "{line}: {message}");
    }
}

/// Rust and the crate `csv` accept most of these as numbers.
#[test]
fn csv_number_that_json_refuses_is_rejected() {
    let server = Server::start();
    let numbers = [
        "0x10",
        "0X10",
        "0b1",
        "0o7",
        "+5",
        " 5",
        "5 ",
        "\t5",
        "1e3",
        "1E+12",
        "5.0",
        "5,0",
        ".5",
        "5.",
        "007",
        "-",
        "-0",
        "--5",
        "5_000",
        "5 000",
        "\u{665}",
        "NaN",
        "null",
        "true",
        "\"5\"",
        "[5]",
        "9223372036854775808",
        "1e999",
    ];
    let rows = numbers.map(|number| format!("\"{}\",Fern\n", number.replace('"', "\"\"")));
    write(&server, "plants.csv", format!("id,name\n{}", rows.concat()));
    let imported = import(&mut plants(&server, &["import", "plants.csv"]));
    assert_eq!(imported.counts, [0, numbers.len() as u64, 0], "{:?}", server.export());
    assert!(imported.rejected.iter().all(|rejected| rejected.message.starts_with("`id`: ")));
    assert_eq!(imported.rejected[0].message, "`id`: \"0x10\" is not a JSON number");
    write(&server, "plants.csv", "id,name\n-9223372036854775808,a\n0,b\n9223372036854775807,c\n");
    let imported = import(&mut plants(&server, &["import", "plants.csv"]));
    assert!(imported.is_success(3), "{imported:?}");
}

#[test]
fn csv_row_without_a_required_value_is_rejected() {
    let server = Server::start();
    write(&server, "plants.csv", "id,name,tag\n1,,indoor\n2,\"\",\n");
    let imported = import(&mut plants(&server, &["import", "plants.csv"]));
    assert_eq!((imported.exit_code, imported.counts), (Some(1), [0, 2, 0]), "{imported:?}");
    assert_eq!(imported.rejected[0].message, "`name`: the field is empty");
    assert!(server.export().is_empty());
}

/// `csv` takes everything up to the next quote for the name. None of it may become a plant.
#[test]
fn missing_csv_quote_rejects_the_rows_up_to_the_next_quote() {
    let server = Server::start();
    for (text, created) in [
        ("id,name\n1,Fern\n2,\"Ficus\n3,Fern\n4,Fern\n", 1),
        ("id,name\n1,Fern\n2,\"Ficus\n3,Fern\n4,\"Fern\"\n5,Fern\n", 2),
    ] {
        write(&server, "plants.csv", text);
        let imported = import(&mut plants(&server, &["import", "plants.csv"]));
        assert_eq!(
            (imported.exit_code, imported.counts),
            (Some(1), [created, 1, 0]),
            "{imported:?}"
        );
        assert!(
            imported.rejected[0].message.contains("is a closing quote missing?"),
            "{imported:?}"
        );
    }
    assert_eq!(server.export().into_keys().collect::<Vec<_>>(), [1, 5]);
}

/// Without the limit, an endless row would exhaust the memory.
#[test]
fn csv_row_longer_than_1_mib_ends_the_import() {
    let server = Server::start();
    let rest = "3,Fern\n".repeat(200_000);
    write(&server, "plants.csv", format!("id,name\n1,Fern\n2,\"Ficus\n{rest}"));
    let Imported { exit_code, counts, complete, stderr, .. } =
        import(&mut plants(&server, &["import", "plants.csv"]));
    assert_eq!((exit_code, counts, complete), (Some(1), [1, 0, 0], false), "{stderr}");
    assert!(
        stderr.contains("the record at line 3 is longer than 1 MiB: is a closing quote missing?"),
        "{stderr}"
    );
}

#[test]
fn invalid_csv_header_exits_2_and_sends_nothing() {
    let server = Server::start();
    for (text, expected) in [
        ("id,name,tags\n1,Fern,indoor\n", "unknown column \"tags\": correct the name"),
        ("888,x\n889,y\n", "unknown column \"888\": correct the name"),
        ("id, name\n1,Fern\n", "unknown column \" name\": correct the name"),
        ("id,name,\n1,Fern,\n", "unknown column \"\": correct the name"),
        ("id;name;tag\n1;Fern;indoor\n", "column \"id;name;tag\": add --delimiter ';'"),
        ("id\tname\n1\tFern\n", r#"column "id\tname": add --delimiter '\t'"#),
        ("id|name\n1|Fern\n", "add --delimiter '|'"),
        ("sep=;\r\nid;name\r\n1;Fern\r\n", "remove it, and add --delimiter"),
        ("id,name,name\n1,Fern,Fern\n", "the column \"name\" twice"),
        ("name,tag\nFern,indoor\n", "no column for a required member: missing field `id`"),
        ("id\n1\n", "no column for a required member: missing field `name`"),
    ] {
        write(&server, "plants.csv", text);
        let is_unknown = expected.starts_with("unknown");
        let flags: &[&[&str]] = if is_unknown { &[&[]] } else { &[&[], &["--ignore-unknown"]] };
        for flags in flags {
            let arguments = [&["import", "plants.csv"], *flags].concat();
            let Finished { exit_code, stdout, stderr } = run(&mut plants(&server, &arguments));
            assert_eq!((exit_code, stdout.as_str()), (Some(2), ""), "{text:?}: {stderr}");
            assert!(stderr.contains(expected), "{text:?}: {stderr}");
            assert!(stderr.starts_with("plants: cannot read plants.csv: the "), "{stderr}");
        }
    }
    assert!(server.export().is_empty());
}
