//! The file of what `plants import` does not create: no file of the user is touched, and nothing is
//! sent if that file cannot be written.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use plant_store_tests::Server;
use serde_json::Value;

use super::import::{counts, rejected};
use super::{plants, program, run, write};

const FERN: &str = "{\"id\":1,\"name\":\"Fern\"}\n";
/// A plant, and a line that is no plant.
const MIXED: &str = "{\"id\":1,\"name\":\"Fern\"}\nFern\n";

/// The names in the server's folder, without those of the store.
fn names(server: &Server) -> Vec<String> {
    let entries = fs::read_dir(server.folder()).expect("a folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name().into_string());
    let names = names.map(|name| name.expect("text"));
    let mut names: Vec<_> =
        names.filter(|name| name.contains("plants") || name.contains("jsonl")).collect();
    names.sort();
    names
}

#[test]
fn name_that_is_taken_also_by_a_link_is_2_nothing_is_sent_and_the_file_stays_as_it_is() {
    let server = Server::start();
    write(&server, "plants.jsonl", MIXED);
    write(&server, "notes", "mine");
    let taken = server.folder().join("plants.jsonl.rejected.jsonl");
    for target in ["notes", "nothing"] {
        symlink(target, &taken).expect("a link");
        let (status, printed, said) = run(&mut plants(&server, &["import", "plants.jsonl"]));
        assert_eq!((status, printed.as_str()), (Some(2), ""), "{said}");
        assert!(
            said.contains("plants.jsonl.rejected.jsonl is already there: move it away"),
            "{said}"
        );
        assert!(taken.is_symlink());
        fs::remove_file(&taken).expect("the link");
    }
    fs::rename(server.folder().join("notes"), &taken).expect("a file");
    assert_eq!(run(&mut plants(&server, &["import", "plants.jsonl"])).0, Some(2));
    assert!(server.export().is_empty());

    let other = ["import", "plants.jsonl", "--rejected", "other"];
    assert_eq!(run(&mut plants(&server, &other)).0, Some(1));
    assert_eq!(rejected(&server, "other"), [(2, Some(400))]);
    write(&server, "fern.jsonl", FERN);
    let mut all_created = plants(&server, &["import", "fern.jsonl", "--rejected", "no"]);
    assert_eq!(run(&mut all_created).0, Some(0));
    assert_eq!(fs::read_to_string(taken).expect("it is there"), "mine");
    let dash = ["import", "plants.jsonl", "--rejected", "-"];
    let (_, printed, said) = run(&mut plants(&server, &dash));
    assert_eq!(counts(&printed), [1, 1, 0]);
    let line: Value = serde_json::from_str(&said).expect("one line of JSON");
    assert_eq!((line["line"].as_u64(), line["error"].as_u64()), (Some(2), Some(400)));
    assert_eq!(names(&server), ["fern.jsonl", "plants.jsonl", "plants.jsonl.rejected.jsonl"]);
}

/// Each script imports `MIXED`, as people give a program its input.
#[test]
fn pipe_descriptor_or_process_substitution_is_imported_and_rejected_into_the_current_folder() {
    let server = Server::start();
    write(&server, "plants.jsonl", MIXED);
    for script in [
        "cat plants.jsonl | plants import -",
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
        let (status, printed, said) = run(&mut bash);
        assert_eq!(status, Some(1), "{script}: {said}");
        assert_eq!(counts(&printed), [1, 1, 0], "{script}");
        assert!(said.contains("stdin.rejected.jsonl says what"), "{script}: {said}");
        assert_eq!(rejected(&server, "stdin.rejected.jsonl"), [(2, Some(400))]);
        assert_eq!(names(&server), ["plants.jsonl", "stdin.rejected.jsonl"], "{script}");
        fs::remove_file(server.folder().join("stdin.rejected.jsonl")).expect("it is there");
    }
}

#[test]
fn folder_that_takes_no_file_is_2_before_anything_is_sent() {
    let server = Server::start();
    write(&server, "plants.jsonl", MIXED);
    // For root, no mode forbids to write: /proc does.
    let unwritable = ["import", "plants.jsonl", "--rejected", "/proc/plants/x"];
    let (status, printed, said) = run(&mut plants(&server, &unwritable));
    assert_eq!((status, printed.as_str()), (Some(2), ""), "{said}");
    let expected = "cannot write /proc/plants/x: name another file with --rejected";
    assert!(said.contains(expected), "{said}");
    assert!(server.export().is_empty());
}

/// The name is free at the start, and taken when the import ends.
#[test]
fn name_that_is_taken_during_the_import_is_left_alone_and_the_lines_are_kept() {
    use std::io::Write;
    let server = Server::start();
    let mut import = plants(&server, &["import", "-"]);
    import.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut import = import.spawn().expect("the program starts");
    let mut stdin = import.stdin.take().expect("a pipe");
    stdin.write_all(MIXED.as_bytes()).expect("it reads");
    server.wait_until("the plant", || server.export().len() == 1);
    write(&server, "stdin.rejected.jsonl", "mine");
    drop(stdin);
    let output = import.wait_with_output().expect("the import ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let (kept, why) = said.split_once(" says what was not created: ").expect("it says why");
    let (_, kept) = kept.split_once("plants: ").expect("it says where");
    assert!(why.starts_with("cannot rename it to stdin.rejected.jsonl: File exists"), "{said}");
    assert_eq!(rejected(&server, kept), [(2, Some(400))]);
    let mine = fs::read_to_string(server.folder().join("stdin.rejected.jsonl"));
    assert_eq!(mine.expect("it is there"), "mine");
}
