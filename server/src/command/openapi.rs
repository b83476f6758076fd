//! `plant-store openapi`: prints the document of the API that this binary serves.

use std::io::Write;

use anyhow::Result;

use plant_store_api::document::document_text;

use crate::command::stdout::stdout;

/// Print the OpenAPI document of this release
///
/// It is the published one byte for byte, so that a deployed service can be compared with it.
#[derive(clap::Args, Debug)]
pub struct Args {}

/// Prints the document.
pub fn run(Args {}: &Args) -> Result<()> {
    let mut stdout = stdout();
    stdout.write_all(document_text().as_bytes())?;
    Ok(stdout.flush()?)
}
