//! What operators do with the files of a store: copy, move, delete, inspect, and read for a long
//! time.

pub mod copies;
pub mod killed;

use std::collections::BTreeMap;

use plant_store_tests::prelude::*;

/// What a row of a table does to a folder, or to a file that does not exist yet.
pub type Prepare = fn(&Path);

/// Returns the URL of a store for commands that run in any folder. The path in `url` is relative to
/// `folder`, if it is the URL of a file.
pub fn absolute(folder: &Path, url: &str) -> String {
    match url.strip_prefix("sqlite:") {
        Some(file) => format!("sqlite:{}", folder.join(file).display()),
        None => url.to_owned(),
    }
}

/// Returns each name in a folder, with the content of the file. Anything else has no content.
pub fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("the folder exists");
    let file = |entry: fs::DirEntry| {
        let content = fs::read(entry.path()).unwrap_or_default();
        (entry.file_name().into_string().expect("text"), content)
    };
    entries.map(|entry| file(entry.expect("an entry"))).collect()
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
