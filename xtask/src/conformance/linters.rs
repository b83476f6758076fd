//! The linters: none has anything to say about the document, not even a hint.

use anyhow::Result;

use super::tools::tool;
use crate::run::quietly;

const LINTERS: [&str; 3] = [
    "spectral lint plant-store.json --ruleset spectral.yaml --fail-severity hint \
     --fail-on-unmatched-globs",
    "redocly lint plant-store.json --config redocly.yaml",
    "openapi-spec-validator plant-store.json --validation-errors all",
];

pub fn run() -> Result<()> {
    for linter in LINTERS {
        println!("{linter}");
        quietly(&mut tool(linter))?;
    }
    Ok(())
}
