//! What `plants import` does not create, and the forms in which it takes plants.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use plant_store_tests::{Server, plant};
use serde_json::Value;

use super::import::{counts, rejected};
use super::{Ran, plants, program, run, write};

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
    let longest = plant(3, &"x".repeat(3 << 20), None);
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

    let rows = "id,name\r\n4,\"Fern\r\n\"\r\n5,Fern,\r\nsix,\"Fe\r\nrn\"";
    write(&server, "plants.csv", rows);
    assert_eq!(run(&mut plants(&server, &["import", "plants.csv"])).status, Some(1));
    let records = text(&server, "plants.csv.rejected.csv");
    assert_eq!(records, "id,name\r\n5,Fern,\r\nsix,\"Fe\r\nrn\"\n");
    write(&server, "corrected.csv", records.replace("Fern,", "Fern").replace("six", "6"));
    assert_eq!(run(&mut plants(&server, &["import", "corrected.csv"])).status, Some(0));
    assert_eq!(server.export().into_keys().collect::<Vec<_>>(), [1, 4, 5, 6]);

    for name in ["other", "other.2"] {
        run(&mut plants(&server, &["import", "plants.csv", "--rejected", "other"]));
        assert_eq!(text(&server, name), records);
        assert_eq!(rejected(&server, name), [(4, Some(400)), (5, Some(400))]);
    }
    let dash = ["import", "plants.csv", "--rejected", "-"];
    let Ran { printed, said, .. } = run(&mut plants(&server, &dash));
    assert_eq!(counts(&printed), [1, 2, 0]);
    let first = said.lines().next().expect("a line");
    assert_eq!(serde_json::from_str::<Value>(first).expect("JSON")["line"], 4);
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
        "gzip -c plants.jsonl | plants import -",
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

/// A frame of RFC 8878 with one raw block, for a short text.
fn zstd(text: &str) -> Vec<u8> {
    let size = u8::try_from(text.len()).expect("a short text");
    let [low, high, ..] = (u16::from(size) << 3 | 1).to_le_bytes();
    [&[0x28, 0xb5, 0x2f, 0xfd, 0x20, size, low, high, 0], text.as_bytes()].concat()
}

#[test]
fn each_form_of_a_file_is_read_or_gets_the_sentence_that_helps() {
    let utf_16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    let packed = [zstd("id,name\n1,Fern\n"), zstd("2,Fern\n")].concat();
    let server = Server::start();
    for (name, text, arguments, expected) in [
        ("plants.jsonl", format!("\u{feff}{FERN}").into_bytes(), &[][..], Ok(1)),
        ("plants.CSV.zst", packed.clone(), &[], Ok(2)),
        ("plants", packed.clone(), &["--format", "csv"], Ok(2)),
        ("plants", packed, &[], Err("it looks like CSV: if it is, add --format csv")),
        ("plants.txt", b"name;\"id\"".to_vec(), &[], Err("add --format csv")),
        ("plants.csv", FERN.into(), &[], Err("add --format jsonl")),
        ("plants.json", format!("\n [{FERN}]").into_bytes(), &[], Err("'.[]' (jq 1.7 or")),
        (
            "plants.json",
            FERN.replace(',', ",\n").replace('{', "{\n").into(),
            &[],
            Err("-c . (jq 1.7 or"),
        ),
        ("plants.txt", utf_16("\u{feff}id,name"), &[], Err("iconv -f UTF-16 -t UTF-8")),
        ("plants.csv", b"PK\x03\x04\x14\0".to_vec(), &[], Err("save it as CSV (UTF-8)")),
        ("plants.xz", b"\xfd7zXZ\0\0".to_vec(), &[], Err("unpack it first")),
        ("plants.bz2", b"BZh91AY&SY\0".to_vec(), &[], Err("unpack it first")),
        ("plants.txt", utf_16(FERN), &[], Err("iconv -f UTF-16 -t UTF-8")),
    ] {
        write(&server, name, text);
        let import = [&["import", name], arguments].concat();
        let Ran { status, printed, said } = run(&mut plants(&server, &import));
        match expected {
            Ok(created) => assert_eq!(counts(&printed), [created, 0, 0], "{name}: {said}"),
            Err(expected) => {
                assert_eq!((status, printed.as_str()), (Some(2), ""), "{name}: {said}");
                assert!(said.contains(expected), "{name}: {said}");
            }
        }
    }
    let Ran { status, printed, said } =
        run(&mut plants(&server, &["import", "plants.txt", "--dry-run"]));
    assert_eq!((status, printed.as_str()), (Some(2), ""), "{said}");
}

/// It needs no service, says what it sees with the place in the file, and writes nothing.
#[test]
fn dry_run_sends_nothing_and_writes_no_file() {
    let server = Server::start();
    let not_utf_8 = b" {\"id\":3,\"name\":\"\xe4\"}\n";
    let text = [FERN.as_bytes(), b"[4,\"Fern\"]\n {\"id\":2,}\n", not_utf_8].concat();
    write(&server, "plants.jsonl", text);
    let mut dry_run = plants(&server, &["import", "plants.jsonl", "--dry-run"]);
    let Ran { status, printed, said } = run(dry_run.env_remove("PLANTS_TOKEN"));
    assert_eq!((status, printed.as_str()), (Some(1), "{\"plants\":1,\"refused\":3}\n"), "{said}");
    let places = [r#""line":2"#, "at line 3 column 10", "0xE4 at line 4 column 18 is not UTF-8"];
    for (line, place) in said.lines().zip(places) {
        assert!(line.contains(place), "{said}");
    }
    assert!(server.export().is_empty());
    assert_eq!(names(&server), ["plants.jsonl"]);
}
