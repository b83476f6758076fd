//! The records that `plants import` does not create. Each becomes a line of JSON on stdout.

use std::fs::{self, File};
use std::process::{Command, Stdio};

use plant_store_tests::{Server, plant};
use serde_json::json;

use super::import::{import, imported};
use super::{Finished, plants, program, run, write};

/// A plant, and a line that is not a plant.
const MIXED: &str = "{\"id\":1,\"name\":\"Fern\"}\nFern\n";

fn names(server: &Server) -> Vec<String> {
    let entries = fs::read_dir(server.folder()).expect("a folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name().into_string());
    let mut names: Vec<_> = names.map(|name| name.expect("text")).collect();
    names.sort();
    names
}

#[test]
fn rejected_record_is_a_line_of_json_on_stdout() {
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
    let Finished { exit_code, stdout, .. } = run(&mut plants(&server, &["import", "plants.jsonl"]));
    assert_eq!(exit_code, Some(1));
    let expected = [
        "{\"error\":409,\"line\":1,\"message\":\"plant 9007199254740993 already exists and is \
         different: choose another id\",\"plant\":{\"id\":9007199254740993,\"name\":\"Ficus\"}}",
        "{\"error\":400,\"line\":2,\"message\":\"the contract has no member `tags`: \
         correct the name, or add --ignore-unknown\",\
         \"plant\":{\"id\":2,\"name\":\"Fern\",\"tags\":\"indoor\"}}",
        "{\"error\":400,\"line\":3,\"message\":\"duplicate field `id` at column 26\",\
         \"text\":\"{\\\"id\\\":3,\\\"name\\\":\\\"Fern\\\",\\\"id\\\":4}\"}",
        "{\"error\":400,\"line\":4,\"message\":\"it is not a JSON object; each line must be one: \
         `jq -c '.[]'` writes each object of an array on its own line, and CSV needs --format \
         csv\",\
         \"text\":\"Fern \\u009b2J\"}",
    ];
    assert_eq!(stdout.lines().collect::<Vec<_>>(), expected);

    let imported = import(&mut plants(&server, &["import", "plants.csv"]));
    let [taken, six] = &imported.rejected[..] else { panic!("{imported:?}") };
    let ficus = json!({"id": 9_007_199_254_740_993_i64, "name": "Ficus"});
    assert_eq!((taken.plant.as_ref(), taken.text.as_deref()), (Some(&ficus), None));
    assert_eq!((six.plant.as_ref(), six.text.as_deref()), (None, Some("six,\"Fe,rn\",")));
    assert_eq!(names(&server), before);
}

/// Does what the `sed` command of the README does: it takes the plants of the rejected records, and
/// skips records that are not plants.
#[test]
fn rejected_plants_can_be_imported_again() {
    let server = Server::start();
    let longest = plant(3, &"x".repeat(64 * 1024), None);
    let mistyped = r#"{"id":2,"name":"Fern","tags":"indoor"}"#;
    write(&server, "plants.jsonl", format!("{MIXED}{mistyped}\n{longest}\n"));
    let first = import(&mut plants(&server, &["import", "plants.jsonl"]));
    assert_eq!(first.errors(), [(2, Some(400)), (3, Some(400)), (4, Some(413))]);
    let plants_again = first.rejected.into_iter().filter_map(|rejected| rejected.plant);
    let lines: Vec<_> = plants_again.map(|plant| plant.to_string()).collect();
    write(&server, "again.jsonl", lines.join("\n"));
    let again = import(&mut plants(&server, &["import", "again.jsonl", "--ignore-unknown"]));
    assert_eq!(again.counts, [1, 1, 0], "{again:?}");
    assert_eq!(again.errors(), [(2, Some(413))]);
    assert_eq!(server.export().into_keys().collect::<Vec<_>>(), [1, 2]);
}

/// Each script imports `MIXED` in one of the ways in which people pass input to a program.
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
        assert_eq!((imported.exit_code, imported.counts), (Some(1), [1, 1, 0]), "{script}");
        assert_eq!(imported.errors(), [(2, Some(400))], "{script}");
    }
}

/// Every write to `/dev/full` fails.
#[test]
fn full_stdout_ends_the_import() {
    let server = Server::start();
    write(&server, "plants.jsonl", MIXED.repeat(1000));
    let full = File::options().write(true).open("/dev/full").expect("the device exists");
    let mut command = plants(&server, &["import", "plants.jsonl"]);
    let process = command.stdout(full).stderr(Stdio::piped()).spawn().expect("the program starts");
    let imported = imported(Finished::of(process.wait_with_output().expect("the program ends")));
    assert_eq!((imported.exit_code, imported.complete), (Some(1), false), "{imported:?}");
    let expected = "cannot write to standard output: No space left on device";
    assert!(imported.stderr.contains(expected), "{imported:?}");
}
