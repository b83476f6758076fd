//! The drift check, `cargo xtask generate --check`: whether the checked-in files are those that the
//! code generates. It must build without the client, which may not compile before it is generated.

use plant_store_chores::generate::generated;
use xtask::checkout::root;

#[test]
fn checked_in_files_are_what_the_code_generates() {
    for file in generated().expect("the code makes a document and a client") {
        expectorate::assert_contents(root().join(file.path), &file.text);
    }
}
