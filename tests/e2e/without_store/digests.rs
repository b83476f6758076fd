//! The digest of the plants, which compares a copy with its original.

use std::fs;

use plant_store_tests::{Server, plant, run};
use serde_json::Value;

fn digest(stdout: &[u8]) -> String {
    let stdout = String::from_utf8(stdout.to_vec()).expect("text");
    let (_, digest) = stdout.trim_end().rsplit_once(", digest: ").expect("a digest at the end");
    assert_eq!(digest.len(), 64, "{stdout}");
    digest.to_owned()
}

/// `copy` and `check` print the same digest until a plant is changed in the file.
#[test]
fn digest_detects_a_changed_plant_in_a_copy() {
    let server = Server::start();
    for id in 0..100 {
        server.create(&plant(id, &format!("Ficus {id}"), None)).plant();
    }
    let folder = server.folder();
    let copy = ["copy", "--from", server.store(), "--to", "sqlite:copy.db", "--tokens", "none"];
    let expected = digest(&run(folder, &copy).stdout);
    assert_eq!(digest(&run(folder, &["check"]).stdout), expected);
    let check_copy = ["check", "--store", "sqlite:copy.db"];
    assert_eq!(digest(&run(folder, &check_copy).stdout), expected);
    let json = run(folder, &["check", "--json"]).stdout;
    let report: Value = serde_json::from_slice(&json).expect("JSON");
    assert_eq!(report["digest"], expected);

    let copy = folder.join("copy.db");
    let mut bytes = fs::read(&copy).expect("the copy");
    let name = b"Ficus 77";
    // Change every occurrence, because SQLite leaves an old copy of a row behind when it moves the
    // row.
    let is_occurrence = |offset: &usize| bytes[*offset..].starts_with(name);
    let offsets: Vec<usize> = (0..bytes.len()).filter(is_occurrence).collect();
    assert!(!offsets.is_empty(), "the plant is in the file");
    for offset in offsets {
        bytes[offset + 4] = b'X';
    }
    fs::write(&copy, bytes).expect("the folder is writable");
    let changed = run(folder, &check_copy);
    assert!(changed.status.success(), "the structure of the file is intact");
    assert_ne!(digest(&changed.stdout), expected);
}
