//! What is generated: the published document from the code; from the document the client, its
//! mocks, its commands, its `ErrorCode`, and the lists of errors in documents and recipes.

mod client;
mod drift;

use std::fs;

use anyhow::{Context, Result, ensure};
use plant_store_api::document::{document, document_text};

pub use drift::Generated;

use crate::errors::{Errors, LISTS, MARKERS, between};
use xtask::checkout::{DOCUMENT, root};

/// Writes the files.
pub fn write() -> Result<()> {
    for file in generated()? {
        let path = root().join(file.path);
        fs::write(path, &file.text).with_context(|| format!("cannot write {}", file.path))?;
        println!("wrote {}", file.path);
    }
    Ok(())
}

/// The drift check: it writes nothing, and fails with a unified diff if a checked-in file is not
/// what [`write()`] would write.
pub fn check() -> Result<()> {
    let mut drifted = Vec::new();
    for file in generated()? {
        // A missing file differs in every line, so it counts as an empty one.
        let checked_in = fs::read_to_string(root().join(file.path)).unwrap_or_default();
        if let Some(diff) = file.drift(&checked_in) {
            print!("{diff}");
            drifted.push(file.path);
        }
    }
    ensure!(
        drifted.is_empty(),
        "{} differ from the code's: run `cargo xtask generate`",
        drifted.join(" and ")
    );
    Ok(())
}

/// The files, as the code has them now.
pub fn generated() -> Result<Vec<Generated>> {
    let mut files = vec![published()];
    files.append(&mut client::client()?);
    let document = serde_json::to_value(document())?;
    let errors = Errors::of(&document)?;
    for list in LISTS {
        files.push(between_markers(list.path, MARKERS, &errors.lines(&list.template))?);
    }
    Ok(files)
}

/// A checked-in file with these lines between its markers.
fn between_markers(path: &'static str, markers: [&str; 2], lines: &str) -> Result<Generated> {
    let text = fs::read_to_string(root().join(path)).with_context(|| format!("no {path}"))?;
    Ok(Generated { path, text: between(markers, path, &text, lines)? })
}

/// The published document, as the code has it now.
#[must_use]
pub fn published() -> Generated {
    Generated { path: DOCUMENT, text: document_text() }
}
