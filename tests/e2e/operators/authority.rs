//! The blocks of `server/deploy/README.md` that make an authority of your own and a certificate.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::files;
use super::machine::{Machine, blocks};

/// Writes over each file that it is told to make, as openssl does.
const OPENSSL: &str = "while [ $# -gt 0 ]; do
    case $1 in -keyout | -out) echo $$ > \"$2\" ;; esac
    shift
done";

/// The names of the folders in that folder.
fn folders(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let entries = entries.map(|entry| entry.expect("an entry"));
    let folders = entries.filter(|entry| entry.file_type().expect("a type").is_dir());
    folders.map(|folder| folder.file_name().into_string().expect("text")).collect()
}

#[test]
fn second_certificate_is_made_beside_the_first_one_by_the_authority_that_is_there() {
    let machine = Machine::with(Vec::new());
    let folder = TempDir::new().expect("a temporary folder");
    machine.program("openssl", OPENSSL);
    let tls = blocks("server/deploy/README.md", "TLS");
    let block_with = |words: &str| tls.iter().find(|block| block.contains(words)).expect(words);
    let authority = block_with("req -x509");
    let certificate = block_with("x509 -req");

    machine.run(folder.path(), authority).expect("an authority");
    let ours = folder.path().join("plants-ca");
    let made = files(&ours);
    machine.run(folder.path(), authority).expect_err("the authority is there");
    machine.run(folder.path(), certificate).expect("a certificate");
    let first = folders(&ours).pop().expect("a folder for the certificate");
    let certificate_of_the_first = files(&ours.join(&first));
    machine.run(folder.path(), certificate).expect("a second certificate");
    assert_eq!(folders(&ours).len(), 2);

    // Both are asked for within one second.
    machine.program("date", &format!("echo '{}'", first.trim_start_matches("plants.internal-")));
    machine.run(folder.path(), certificate).expect_err("the folder is there");
    assert!(files(&ours.join(&first)) == certificate_of_the_first);
    assert!(files(&ours) == made, "the authority is as it was");
    assert!(files(folder.path()).is_empty(), "nothing is in the folder where the blocks ran");
}
