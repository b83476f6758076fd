//! The linters must report nothing about the document and about the alerts, not even a hint.

use anyhow::Result;
use xshell::cmd;

use crate::tools::shell;
use xtask::run::{has, quietly, root};

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
    let promtool = cmd!(sh, "promtool check rules").arg(root().join("server/alerts.yaml"));
    println!("{promtool}");
    if has("promtool") {
        quietly(promtool)?;
    } else {
        println!("skipped, because promtool (of Prometheus) is missing");
    }
    Ok(())
}
