//! What `plants import` does not create, and where it writes that.

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use plant_store_tests::{Server, plant};
use tempfile::TempDir;

use super::import::{complete, counts, reasons, rejected};
use super::{Ran, plants, program, run, write};
use crate::operators::killed::before_each_call;

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

fn text(server: &Server, name: &str) -> String {
    fs::read_to_string(server.folder().join(name)).expect("it is there")
}

/// Each run has files of its own. What has a name of them already stays as it is, also a link.
#[test]
fn import_is_run_again_and_what_it_rejected_is_corrected_and_imported() {
    let server = Server::start();
    let longest = plant(3, &"x".repeat(64 * 1024), None);
    write(&server, "plants.jsonl", format!("{FERN} {{\"id\":2,\"nam\":\"Fern\"}}\n{longest}\n"));
    let taken = server.folder().join("plants.jsonl.rejected.jsonl");
    symlink("nothing", &taken).expect("a link");
    for name in ["plants.jsonl.rejected.2", "plants.jsonl.rejected.3"] {
        let Ran { status, said, .. } = run(&mut plants(&server, &["import", "plants.jsonl"]));
        let expected =
            format!("{name}.jsonl holds what was refused or given up, {name}.reasons.jsonl says");
        assert!(status == Some(1) && said.contains(&expected), "{said}");
        let records = format!(" {{\"id\":2,\"nam\":\"Fern\"}}\n{longest}\n");
        assert!(text(&server, &format!("{name}.jsonl")) == records, "{name} has other records");
        assert_eq!(rejected(&server, name), [(2, Some(400)), (3, Some(413))]);
    }
    assert!(taken.is_symlink() && !taken.exists());
    assert_eq!(names(&server).len(), 6);

    let rows = "id,name\r\n4,Fern\r\n5,Fern,\r\nsix,\"Fe,rn\"";
    write(&server, "plants.csv", rows);
    assert_eq!(run(&mut plants(&server, &["import", "plants.csv"])).status, Some(1));
    let records = text(&server, "plants.csv.rejected.csv");
    assert_eq!(records, "id,name\n5,Fern,\nsix,\"Fe,rn\"\n");
    write(&server, "corrected.csv", records.replace("5,Fern,", "5,Fern").replace("six", "6"));
    assert_eq!(run(&mut plants(&server, &["import", "corrected.csv"])).status, Some(0));
    assert_eq!(server.export().into_keys().collect::<Vec<_>>(), [1, 4, 5, 6]);

    for name in ["other", "other.2"] {
        run(&mut plants(&server, &["import", "plants.csv", "--rejected", "other"]));
        assert_eq!(text(&server, name), records);
        assert_eq!(rejected(&server, name), [(3, Some(400)), (4, Some(400))]);
    }
    // For root, no mode forbids to write: /proc does.
    let unwritable = ["import", "plants.csv", "--rejected", "/proc/plants/x"];
    let Ran { status, printed, said } = run(&mut plants(&server, &unwritable));
    assert_eq!((status, printed.as_str()), (Some(2), ""), "{said}");
    let expected = "cannot write /proc/plants/x: name another file with --rejected";
    assert!(said.contains(expected), "{said}");
}

/// Each script imports `MIXED`, as people give a program its input.
#[test]
fn pipe_descriptor_or_process_substitution_is_imported_and_rejected_into_the_current_folder() {
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
        let Ran { status, printed, said } = run(&mut bash);
        assert_eq!(status, Some(1), "{script}: {said}");
        assert_eq!(counts(&printed), [1, 1, 0], "{script}");
        assert!(said.contains("stdin.rejected.jsonl holds what"), "{script}: {said}");
        assert_eq!(rejected(&server, "stdin.rejected"), [(2, Some(400))]);
        let files = ["plants.jsonl", "stdin.rejected.jsonl", "stdin.rejected.reasons.jsonl"];
        assert_eq!(names(&server), files, "{script}");
        for file in &files[1..] {
            fs::remove_file(server.folder().join(file)).expect("it is there");
        }
    }
}

/// Each round has plants of its own, which its next run creates or finds.
#[test]
fn import_that_is_killed_at_any_call_is_run_again_and_rejects_the_same_into_new_files() {
    let server = Server::start();
    let round = Cell::new(0);
    let last_is_another = |id: i64| plant(id + 1, "Fern", None) + "\n";
    let prepare = || {
        let folder = TempDir::new().expect("a temporary folder");
        let id = round.replace(round.get() + 10);
        let ferns: String = (id..id + 3).map(|id| plant(id, "Ficus", None) + "\n").collect();
        let lines = format!("{ferns}Fern\n{}", last_is_another(id));
        fs::write(folder.path().join("plants.jsonl"), lines).expect("a file");
        fs::write(folder.path().join("plants.jsonl.rejected.jsonl"), "theirs").expect("a file");
        folder
    };
    let import = |folder: &Path| {
        let mut command = plants(&server, &["import", "plants.jsonl"]);
        command.current_dir(folder);
        command
    };
    before_each_call(prepare, import, |folder| {
        let Ran { status, printed, said } = run(&mut import(folder));
        assert_eq!((status, counts(&printed)), (Some(1), [3, 2, 0]), "{said}");
        let (name, _) = said.split_once(" holds what was refused").expect(&said);
        let name = name.trim_start_matches("plants: ");
        let rejected = fs::read_to_string(folder.join(name)).expect("it is there");
        let id = round.get() - 10;
        assert_eq!(rejected, format!("Fern\n{}", last_is_another(id)));
        let reasons = format!("{}.reasons.jsonl", name.trim_end_matches(".jsonl"));
        let reasons = fs::read_to_string(folder.join(reasons));
        assert_eq!(reasons.expect("it is there").lines().count(), 2);
        let theirs = fs::read(folder.join("plants.jsonl.rejected.jsonl"));
        assert_eq!(theirs.expect("it stays"), b"theirs");
        assert!((id..id + 3).all(|id| server.export().contains_key(&id)));
    });
}

/// The shell takes the signal from a write that is too long: it fails, as on a full disk.
#[test]
fn rejected_record_that_cannot_be_written_ends_the_import_with_1_and_is_said() {
    let server = Server::start();
    write(&server, "plants.jsonl", MIXED);
    let mut bash = Command::new("bash");
    let script = "trap '' XFSZ; ulimit -f 0; exec \"$0\" import plants.jsonl";
    bash.args(["-c", script]).arg(program()).current_dir(server.folder());
    bash.env("PLANTS_URL", &server.url).env("PLANTS_TOKEN", &server.token).stdin(Stdio::null());
    let Ran { status, printed, said } = run(&mut bash);
    assert_eq!((status, complete(&printed)), (Some(1), false), "{said}");
    assert!(said.contains("cannot write what was not created: File too large"), "{said}");
}

/// A file may be one array, in one line or in several. The byte order mark is that of an editor.
#[test]
fn line_with_an_array_is_refused_and_a_byte_order_mark_is_passed_over() {
    let server = Server::start();
    let text = [
        "\u{feff}{\"id\":1,\"name\":\"Fern\"}",
        r#"[2,"Fern","indoor"]"#,
        r#" [{"id":3,"name":"Fern"}]"#,
        "[",
        r#"{"id":5,"name":"Fern"}"#,
        "]",
    ];
    write(&server, "plants.jsonl", text.join("\n"));
    let Ran { status, printed, said } = run(&mut plants(&server, &["import", "plants.jsonl"]));
    assert_eq!((status, counts(&printed)), (Some(1), [2, 4, 0]), "{said}");
    let reasons = reasons(&server, "plants.jsonl.rejected");
    for reason in &reasons[..3] {
        assert!(reason.message.starts_with("an array: a line has to be one JSON object"));
    }
    assert_eq!(server.export().into_keys().collect::<Vec<_>>(), [1, 5]);
}
