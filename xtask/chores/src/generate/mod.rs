//! What is generated: the published document from the code; from the document the client, its
//! mocks and its commands; and from the table of errors that of the client and of a page.

mod client;

use std::fs;

use anyhow::{Context, Result};
use plant_store_api::document::document_text;

use crate::errors::{MARKERS, between, rows, table};
use xtask::checkout::{DOCUMENT, root};

/// A file that is generated and checked in.
pub struct Generated {
    /// Relative to the root of the repository.
    pub path: &'static str,
    /// What it has to hold.
    pub text: String,
}

/// Writes the files.
pub fn write() -> Result<()> {
    for file in generated()? {
        let path = root().join(file.path);
        fs::write(path, &file.text).with_context(|| format!("cannot write {}", file.path))?;
        println!("wrote {}", file.path);
    }
    Ok(())
}

/// Every generated file, as the code has it now. The test `golden` compares these with the files
/// that are checked in.
pub fn generated() -> Result<Vec<Generated>> {
    let mut files = vec![Generated { path: DOCUMENT, text: document_text() }];
    files.append(&mut client::client()?);
    files.push(between_markers("server/WIRE.md", MARKERS, &table())?);
    files.push(between_markers("client/src/error_code.rs", MARKERS, &rows())?);
    Ok(files)
}

/// A checked-in file with these lines between its markers.
fn between_markers(path: &'static str, markers: [&str; 2], lines: &str) -> Result<Generated> {
    let text = fs::read_to_string(root().join(path)).with_context(|| format!("no {path}"))?;
    Ok(Generated { path, text: between(markers, path, &text, lines)? })
}
