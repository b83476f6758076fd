//! The drift check: the checked-in files are what the code generates. With `EXPECTORATE=overwrite`
//! the test writes them, as `cargo xtask generate` has it do.
//!
//! The published document is generated from the code. The client, its mocks and its commands are
//! generated from the document. A page and the client get the table of errors of the contract.

mod client;
mod errors;

use anyhow::Result;
use plant_store_api::document::document_text;
use xtask::checkout::{DOCUMENT, root};

/// A file that is generated and checked in.
struct Generated {
    /// Relative to the root of the repository.
    path: &'static str,
    /// What it has to hold.
    text: String,
}

#[test]
fn checked_in_files_are_what_the_code_generates() {
    for file in generated().expect("the code makes a document and a client") {
        expectorate::assert_contents(root().join(file.path), &file.text);
    }
}

/// Every generated file, as the code has it now.
fn generated() -> Result<Vec<Generated>> {
    let mut files = vec![Generated { path: DOCUMENT, text: document_text() }];
    files.append(&mut client::client()?);
    files.push(errors::between_markers("server/WIRE.md", &errors::table())?);
    files.push(errors::between_markers("client/src/error_code.rs", &errors::rows())?);
    Ok(files)
}
