//! What operators do with the files of a store: copy, move, delete, inspect, and read for a long
//! time.

pub mod copies;
pub mod killed;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use plant_store_tests::{Server, plant};

/// Returns the name and the content of each file in a folder.
pub fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("the folder exists");
    let entries = entries.map(|entry| entry.expect("an entry"));
    let files = entries.filter(|entry| entry.file_type().expect("a type").is_file());
    files
        .map(|file| {
            let name = file.file_name().into_string().expect("text");
            (name, fs::read(file.path()).expect("a file"))
        })
        .collect()
}

/// Returns the sorted names in a folder that begin with the prefix.
pub fn names(folder: &Path, prefix: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder exists");
    let names = entries.map(|entry| entry.expect("an entry").file_name().into_string());
    let names = names.map(|name| name.expect("text")).filter(|name| name.starts_with(prefix));
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

/// Creates plants with these ids, each of a few kilobytes, so that a thousand plants fill more than
/// one WAL.
pub fn create(server: &Server, ids: std::ops::Range<i64>) {
    let name = "Ficus ".repeat(700);
    // Many at a time, so that they share commits.
    let mut connections: Vec<_> = (0..32).map(|_| server.connect()).collect();
    let ids: Vec<_> = ids.collect();
    for some in ids.chunks(connections.len()) {
        for (connection, id) in connections.iter_mut().zip(some) {
            connection.send(&server.post(&plant(*id, &name, None)));
        }
        for (connection, _) in connections.iter_mut().zip(some) {
            connection.receive().plant();
        }
    }
}
