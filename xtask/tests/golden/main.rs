//! The drift check: the checked-in files must be the files that the code generates. With
//! `EXPECTORATE=overwrite`, which `cargo xtask generate` sets, the test overwrites them instead.
//!
//! A service prints its published document, and the client, its mocks and its commands are
//! generated from the document. The values of `error` are inserted into a page and into the library
//! of the clients, and the client gets a list of the idempotent operations.

mod client;
mod errors;

use std::fs;

use anyhow::{Context, Result};
use openapiv3::OpenAPI;
use xshell::cmd;
use xtask::checkout::{DOCUMENT, build, root, shell};

use crate::client::{Part, generate};

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
    let mut files = of_plant_store()?;
    files.append(&mut of_goose_farm()?);
    Ok(files)
}

fn of_plant_store() -> Result<Vec<Generated>> {
    let text = document_of("plant-store")?;
    let document: OpenAPI = serde_json::from_str(&text)?;
    let rows = errors::rows(&document)?;
    let variants = errors::variants(&rows)?;
    Ok(vec![
        Generated { path: DOCUMENT, text },
        generate(Part::Client, &document, "client/src/generated.rs")?,
        generate(Part::Mock, &document, "client/src/mock.rs")?,
        generate(Part::Commands, &document, "client/src/cli/generated.rs")?,
        between_markers("client/src/lib.rs", "idempotent", &errors::idempotent(&document))?,
        between_markers("client/kit/src/error_code.rs", "errors", &variants)?,
        between_markers("server/WIRE.md", "errors", &errors::table(&rows))?,
    ])
}

fn of_goose_farm() -> Result<Vec<Generated>> {
    const CLIENT: &str = "tests/goose-farm/client/src/lib.rs";
    let text = document_of("goose-farm")?;
    let document: OpenAPI = serde_json::from_str(&text)?;
    Ok(vec![
        Generated { path: "tests/goose-farm/openapi.json", text },
        generate(Part::Client, &document, "tests/goose-farm/client/src/generated.rs")?,
        between_markers(CLIENT, "idempotent", &errors::idempotent(&document))?,
    ])
}

/// Builds a program of the workspace, and returns the document that it prints.
fn document_of(program: &str) -> Result<String> {
    let sh = shell()?;
    let program = build("--bin", program)?;
    let output = cmd!(sh, "{program} openapi").quiet().output()?;
    Ok(String::from_utf8(output.stdout)?)
}

/// Returns the content of a checked-in file with these lines between its two markers of this name.
/// Each marker is in a comment.
fn between_markers(path: &'static str, name: &str, lines: &str) -> Result<Generated> {
    let [start, end] = [format!("{name}: generated from"), format!("end of {name}")];
    let text =
        fs::read_to_string(root().join(path)).with_context(|| format!("cannot read {path}"))?;
    let parts = || {
        let (before, rest) = text.split_once(&start)?;
        let (marker, rest) = rest.split_once('\n')?;
        let (old, after) = rest.split_once(&end)?;
        // Keep the start of the comment, which is in the line of the marker.
        let comment = old.rfind('\n').map_or(0, |last| last + 1);
        Some(format!("{before}{start}{marker}\n{lines}{}{end}{after}", &old[comment..]))
    };
    let text = parts()
        .with_context(|| format!("{path} needs a line with `{start}`, then one with `{end}`"))?;
    Ok(Generated { path, text })
}
