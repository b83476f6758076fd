//! The digest of the plants, by which a copy is compared with its original.

use std::fs;

use plant_store_tests::{Server, plant, run};
use serde_json::Value;

fn digest(said: &[u8]) -> String {
    let said = String::from_utf8(said.to_vec()).expect("text");
    let (_, digest) = said.trim_end().rsplit_once(", digest: ").expect("a digest at the end");
    assert_eq!(digest.len(), 64, "{said}");
    digest.to_owned()
}

#[test]
fn copy_and_check_print_the_same_digest_until_a_plant_is_changed_in_the_file() {
    let server = Server::start();
    for id in 0..100 {
        server.create(&plant(id, &format!("Ficus {id}"), None)).plant();
    }
    let folder = server.folder();
    let copied = run(folder, &["copy", "--from", server.store(), "--to", "sqlite:copy.db"]);
    let expected = digest(&copied.stdout);
    assert_eq!(digest(&run(folder, &["check"]).stdout), expected);
    let check_copy = ["check", "--store", "sqlite:copy.db"];
    assert_eq!(digest(&run(folder, &check_copy).stdout), expected);
    let json = run(folder, &["check", "--json"]).stdout;
    let report: Value = serde_json::from_slice(&json).expect("JSON");
    assert_eq!(report["digest"], expected);

    let copy = folder.join("copy.db");
    let mut bytes = fs::read(&copy).expect("the copy");
    let name = b"Ficus 77";
    // SQLite leaves an old copy of a row in the file if it moves the row.
    let is_copy = |place: &usize| bytes[*place..].starts_with(name);
    let places: Vec<usize> = (0..bytes.len()).filter(is_copy).collect();
    assert!(!places.is_empty(), "the plant is in the file");
    for place in places {
        bytes[place + 4] = b'X';
    }
    fs::write(&copy, bytes).expect("the folder takes files");
    let changed = run(folder, &check_copy);
    assert!(changed.status.success(), "its structure is whole");
    assert_ne!(digest(&changed.stdout), expected);
}
