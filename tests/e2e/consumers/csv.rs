//! The recipe of the client's page that converts CSV to JSON lines. Every record is created as it
//! stands in the file, or not at all.

use std::process::Command;

use plant_store_tests::Server;

use super::{plants, run, write};

const PAGE: &str = include_str!("../../../client/README.md");

/// Returns the Python of the page.
fn recipe() -> &'static str {
    let (_, recipe) = PAGE.split_once("```python\n").expect("the page has a recipe");
    recipe.split_once("```").expect("the recipe ends").0
}

#[test]
fn recipe_converts_csv_exactly_or_fails() {
    assert_eq!(recipe().lines().count(), 5);
    let server = Server::start();
    for (csv, expected) in [
        (
            &b"id,name,tag\r\n1,Fern,\r\n\r\n2,\"a \"\"b\"\", c\",in\r\n"[..],
            Some(
                "{\"id\": 1, \"name\": \"Fern\"}\n\
                 {\"id\": 2, \"name\": \"a \\\"b\\\", c\", \"tag\": \"in\"}\n",
            ),
        ),
        (
            b"\xef\xbb\xbfname,id\nF\xc3\xa9rn,-9007199254740993\n",
            Some("{\"name\": \"F\\u00e9rn\", \"id\": -9007199254740993}\n"),
        ),
        (b"id,name\n1,\"a\nb\"\n", Some("{\"id\": 1, \"name\": \"a\\nb\"}\n")),
        // Rows that were altered without a word by a lenient reader.
        (b"id,name\n1,\"a\"b\n", None),
        (b"id,name\n1,a\rb\n", None),
        (b"id,name\n1,a\r2,b\n", None),
        (b"id,name\n1,\"Fern\n2,Ficus\n", None),
        (b"id,name\n1,Fern,extra\n", None),
        (b"id,name,tag\n1,Fern\n", None),
        (b"id,name\n007,Fern\n", None),
        (b"id,name\n+5,Fern\n", None),
        (b"id,name\n0x10,Fern\n", None),
        (b"id,name\n,Fern\n", None),
        (b"id,name\n1,Caf\xe9\n", None),
        (b"id;name\n1;Fern\n", None),
    ] {
        write(&server, "plants.csv", csv);
        let mut python = Command::new("python3");
        python.args(["-c", recipe(), "plants.csv"]).current_dir(server.folder());
        let converted = run(&mut python);
        let text = String::from_utf8_lossy(csv);
        assert_eq!(converted.exit_code == Some(0), expected.is_some(), "{text:?}: {converted:?}");
        assert!(expected.is_none_or(|expected| converted.stdout == expected), "{converted:?}");
    }
}

/// The recipe leaves what is not a plant to the import.
#[test]
fn import_refuses_what_the_recipe_lets_through() {
    let server = Server::start();
    for csv in ["id,name\n1.5,Fern\n", "id,name\n\"\"\"1\"\"\",Fern\n", "id,nam\n1,Fern\n"] {
        write(&server, "plants.csv", csv);
        let mut python = Command::new("python3");
        python.args(["-c", recipe(), "plants.csv"]).current_dir(server.folder());
        write(&server, "plants.jsonl", run(&mut python).stdout);
        let imported = run(&mut plants(&server, &["import", "plants.jsonl"]));
        assert_eq!(imported.exit_code, Some(1), "{csv:?}: {imported:?}");
    }
    assert!(server.export().is_empty());
}
