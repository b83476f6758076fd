//! The records that `plants import` does not create: each is a line of JSON on stdout.

use std::fs::{self, File};
use std::process::{Command, Stdio};

use plant_store_tests::{Server, plant};
use serde_json::json;

use super::import::{import, imported};
use super::{Ran, plants, program, run, write};

/// A plant, and a line that is no plant.
const MIXED: &str = "{\"id\":1,\"name\":\"Fern\"}\nFern\n";

fn names(server: &Server) -> Vec<String> {
    let entries = fs::read_dir(server.folder()).expect("a folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name().into_string());
    let mut names: Vec<_> = names.map(|name| name.expect("text")).collect();
    names.sort();
    names
}

#[test]
fn rejected_record_is_a_line_of_json_and_nothing_else_is_written() {
    let server = Server::start();
    server.create(r#"{"id":9007199254740993,"name":"Fern"}"#).plant();
    let lines = [
        r#"{"id":9007199254740993,"name":"Ficus"}"#,
        r#"  {"id":2, "name":"Fern", "tags":"indoor"}  "#,
        r#"{"id":3,"name":"Fern","id":4}"#,
        "Fern \u{9b}2J",
    ];
    write(&server, "plants.jsonl", lines.join("\n"));
    write(&server, "plants.csv", "id,name,tag\n9007199254740993,Ficus,\nsix,\"Fe,rn\",\n");
    let before = names(&server);
    let Ran { status, printed, .. } = run(&mut plants(&server, &["import", "plants.jsonl"]));
    assert_eq!(status, Some(1));
    let expected = [
        "{\"error\":409,\"line\":1,\"message\":\"plant 9007199254740993 exists and is a different \
         one: choose another id\",\"plant\":{\"id\":9007199254740993,\"name\":\"Ficus\"}}",
        "{\"error\":400,\"line\":2,\"message\":\"`tags` is no member that the contract has: \
         correct it, or add --ignore-unknown\",\
         \"plant\":{\"id\":2,\"name\":\"Fern\",\"tags\":\"indoor\"}}",
        "{\"error\":400,\"line\":3,\"message\":\"duplicate field `id` at column 26\",\
         \"text\":\"{\\\"id\\\":3,\\\"name\\\":\\\"Fern\\\",\\\"id\\\":4}\"}",
        "{\"error\":400,\"line\":4,\"message\":\"it is not a JSON object; each line has to be one: \
         `jq -c '.[]'` writes the objects of an array so, and CSV needs --format csv\",\
         \"text\":\"Fern \\u009b2J\"}",
    ];
    assert_eq!(printed.lines().collect::<Vec<_>>(), expected);

    let imported = import(&mut plants(&server, &["import", "plants.csv"]));
    let [taken, six] = &imported.rejected[..] else { panic!("{imported:?}") };
    let ficus = json!({"id": 9_007_199_254_740_993_i64, "name": "Ficus"});
    assert_eq!((taken.plant.as_ref(), taken.text.as_deref()), (Some(&ficus), None));
    assert_eq!((six.plant.as_ref(), six.text.as_deref()), (None, Some("six,\"Fe,rn\",")));
    assert_eq!(names(&server), before);
}

/// As `jq -c .plant rejected.jsonl | plants import -` does. `.plant` of a record that is no plant is
/// null.
#[test]
fn rejected_plants_can_be_imported_again() {
    let server = Server::start();
    let longest = plant(3, &"x".repeat(64 * 1024), None);
    let mistyped = r#"{"id":2,"name":"Fern","tags":"indoor"}"#;
    write(&server, "plants.jsonl", format!("{MIXED}{mistyped}\n{longest}\n"));
    let first = import(&mut plants(&server, &["import", "plants.jsonl"]));
    assert_eq!(first.errors(), [(2, Some(400)), (3, Some(400)), (4, Some(413))]);
    let plants_of_it = first.rejected.into_iter().map(|rejected| match rejected.plant {
        Some(plant) => format!("{plant}\n"),
        None => "null\n".to_owned(),
    });
    write(&server, "again.jsonl", plants_of_it.collect::<String>());
    let again = import(&mut plants(&server, &["import", "again.jsonl", "--ignore-unknown"]));
    assert_eq!(again.counts, [1, 2, 0], "{again:?}");
    assert_eq!(again.errors(), [(1, Some(400)), (3, Some(413))]);
    assert_eq!(server.export().into_keys().collect::<Vec<_>>(), [1, 2]);
}

/// Each script imports `MIXED`, as people give a program its input.
#[test]
fn pipe_descriptor_or_process_substitution_is_imported() {
    let server = Server::start();
    write(&server, "plants.jsonl", MIXED);
    for script in [
        "cat plants.jsonl | plants import -",
        "gzip -c plants.jsonl | zcat | plants import -",
        "cat plants.jsonl | plants import /dev/stdin",
        "plants import /dev/stdin < plants.jsonl",
        "plants import <(cat plants.jsonl)",
        "plants import /dev/fd/7 7< plants.jsonl",
        "plants import /proc/self/fd/7 7< plants.jsonl",
    ] {
        let mut bash = Command::new("bash");
        let programs = program().parent().expect("a folder").display();
        bash.args(["-c", &format!("PATH={programs}:$PATH; {script}")]).current_dir(server.folder());
        bash.env("PLANTS_URL", &server.url).env("PLANTS_TOKEN", &server.token).stdin(Stdio::null());
        let imported = import(&mut bash);
        assert_eq!((imported.status, imported.counts), (Some(1), [1, 1, 0]), "{script}");
        assert_eq!(imported.errors(), [(2, Some(400))], "{script}");
    }
}

/// `/dev/full` takes nothing.
#[test]
fn rejected_record_that_cannot_be_written_ends_the_import() {
    let server = Server::start();
    write(&server, "plants.jsonl", MIXED.repeat(1000));
    let full = File::options().write(true).open("/dev/full").expect("it is there");
    let mut command = plants(&server, &["import", "plants.jsonl"]);
    let process = command.stdout(full).stderr(Stdio::piped()).spawn().expect("a start");
    let imported = imported(Ran::of(process.wait_with_output().expect("it ends")));
    assert_eq!((imported.status, imported.complete), (Some(1), false), "{imported:?}");
    let expected = "cannot write to standard output: No space left on device";
    assert!(imported.said.contains(expected), "{imported:?}");
}
