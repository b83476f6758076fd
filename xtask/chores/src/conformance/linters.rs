//! The linters must report nothing about the document, not even a hint.

use anyhow::Result;
use xshell::cmd;

use crate::tools::shell;
use xtask::run::quietly;

pub fn run() -> Result<()> {
    let sh = shell()?;
    for linter in [
        cmd!(
            sh,
            "spectral lint plant-store.json --ruleset spectral.yaml --fail-severity hint
                --fail-on-unmatched-globs"
        ),
        cmd!(sh, "redocly lint plant-store.json --config redocly.yaml"),
        cmd!(sh, "openapi-spec-validator plant-store.json --validation-errors all"),
    ] {
        println!("{linter}");
        quietly(linter)?;
    }
    Ok(())
}
