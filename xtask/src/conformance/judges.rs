//! The tools that check files. Each must succeed and report nothing, not even a hint.

use anyhow::Result;
use xshell::{Cmd, cmd};

use crate::checkout::root;
use crate::needs::{found_or_skipped, has, skipped};
use crate::run::quietly;
use crate::tools::{folder, shell};

/// Runs linters on the document.
pub fn linters() -> Result<()> {
    let sh = shell()?;
    each(cmd!(
        sh,
        "spectral lint plant-store.json --ruleset spectral.yaml --fail-severity hint
            --fail-on-unmatched-globs"
    ))?;
    each(cmd!(sh, "redocly lint plant-store.json --config redocly.yaml"))?;
    each(cmd!(sh, "openapi-spec-validator plant-store.json --validation-errors all"))
}

/// Runs markdownlint on every page of the repository: no line is too long, and every link leads to
/// an existing file and heading.
pub fn markdown() -> Result<()> {
    let sh = shell()?;
    sh.change_dir(root());
    let config = folder().join("pages.markdownlint-cli2.mjs");
    each(cmd!(sh, "markdownlint-cli2 --config {config}"))
}

/// Runs cargo-deny on the dependencies: licences, versions, sources and advisories. Its
/// configuration is `.cargo/deny.toml`. Entries there that are not needed are failures, too.
pub fn deny() -> Result<()> {
    let sh = shell()?;
    sh.change_dir(root());
    let check = || {
        cmd!(
            sh,
            "cargo deny --locked check --deny unmatched-skip --deny unnecessary-skip
                --deny license-exception-not-encountered"
        )
    };
    each(check().args(["bans", "licenses", "sources"]))?;
    // The database is a git repository on a code host that not every machine can reach.
    match each(cmd!(sh, "cargo deny fetch db")) {
        Ok(()) => each(check().arg("advisories")),
        Err(error) => {
            skipped("advisories", &format!("their database cannot be fetched: {error:#}"));
            Ok(())
        }
    }
}

/// Runs Prometheus' own checker on the configuration for Prometheus, and on the alerts that it loads.
pub fn alerts() -> Result<()> {
    if !found_or_skipped("promtool", has("promtool"), "`apt-get install prometheus`")? {
        return Ok(());
    }
    let sh = shell()?;
    let configuration = root().join("server/prometheus.yaml");
    each(cmd!(sh, "promtool check config {configuration}"))
}

/// Writes the document as a page for people, and the document itself, to `target/docs`. The page
/// loads nothing else.
pub fn page() -> Result<()> {
    let sh = shell()?;
    let docs = root().join("target/docs");
    sh.create_dir(&docs)?;
    sh.copy_file("plant-store.json", docs.join("plant-store.json"))?;
    each(cmd!(sh, "redocly build-docs plant-store.json --inlineBundle --output {docs}/index.html"))
}

/// Prints a command and runs it. It must succeed.
fn each(command: Cmd<'_>) -> Result<()> {
    println!("{command}");
    quietly(command)?;
    Ok(())
}
