//! The program of consumers, `plant-store-compat`, as a consumer runs it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use plant_store_tests::build;
use tempfile::TempDir;

use super::mutated;

/// What the program prints on both streams, and its exit status.
pub fn run(folder: &Path, arguments: &[&str]) -> (String, i32) {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let program =
        PROGRAM.get_or_init(|| build("plant-store-compat", false).expect("the program builds"));
    let mut command = Command::new(program);
    let command = command.args(arguments).current_dir(folder).stdin(Stdio::null());
    let output = command.output().expect("the program starts");
    let said = [output.stdout, output.stderr].concat();
    let status = output.status.code().expect("no signal ends it");
    (String::from_utf8(said).expect("the output is UTF-8"), status)
}

/// A folder with these files.
pub fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("the folder takes files");
    }
    folder
}

/// What the program says about two documents, given by their texts.
pub fn compared(pinned: &str, published: &str, flags: &[&str]) -> (String, i32) {
    let folder = folder(&[("pinned", pinned), ("published", published)]);
    run(folder.path(), &[&["pinned", "published"], flags].concat())
}

/// The same, given by edits of the published document.
pub fn edited(old: &[&str], new: &[&str], flags: &[&str]) -> (String, i32) {
    compared(&mutated(old).to_string(), &mutated(new).to_string(), flags)
}
