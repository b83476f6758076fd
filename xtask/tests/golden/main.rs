//! The drift check: the checked-in files must be the files that the code generates. With
//! `EXPECTORATE=overwrite`, which `cargo xtask generate` sets, the test overwrites them instead.
//!
//! The published document is generated from the code, and the client, its mocks and its commands
//! from the document. The values of `error` are inserted into a page and into the client.

mod client;
mod errors;

use anyhow::Result;
use plant_store_api::document::document_text;
use xtask::checkout::{DOCUMENT, root};

/// A file that is generated and checked in.
struct Generated {
    /// The path relative to the root of the repository.
    path: &'static str,
    /// The expected content.
    text: String,
}

#[test]
fn checked_in_files_match_the_generated_files() {
    for file in generated().expect("the files can be generated") {
        expectorate::assert_contents(root().join(file.path), &file.text);
    }
}

/// Generates all files.
fn generated() -> Result<Vec<Generated>> {
    let mut files = vec![Generated { path: DOCUMENT, text: document_text() }];
    files.append(&mut client::client()?);
    files.push(errors::between_markers("server/WIRE.md", &errors::table())?);
    files.push(errors::between_markers("client/src/error_code.rs", &errors::rows())?);
    Ok(files)
}
