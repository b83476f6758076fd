//! The tools that check files. Each must succeed and report nothing, not even a hint.

use std::fs;

use anyhow::{Context, Result};
use serde_json::{Value, json};
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

/// Runs Prometheus' own checker on the files for Prometheus and Grafana: the configuration, the
/// alerts that it loads, and the queries of the dashboard.
pub fn alerts() -> Result<()> {
    if !found_or_skipped("promtool", has("promtool"), "`apt-get install prometheus`")? {
        return Ok(());
    }
    let sh = shell()?;
    let server = root().join("server");
    sh.write_file("dashboard-rules.yaml", queries_as_rules()?)?;
    let configuration = server.join("prometheus.yaml");
    each(cmd!(sh, "promtool check config {configuration}"))?;
    each(cmd!(sh, "promtool check rules dashboard-rules.yaml"))
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

/// Converts the queries of the dashboard to rules that promtool can read. JSON is valid YAML.
fn queries_as_rules() -> Result<String> {
    let text = fs::read_to_string(root().join("server/dashboard.json"))?;
    let dashboard: Value = serde_json::from_str(&text).context("the dashboard is not JSON")?;
    let panels = dashboard["panels"].as_array().context("the dashboard has no panels")?;
    let targets = panels.iter().filter_map(|panel| panel["targets"].as_array()).flatten();
    let rule = |(number, target): (usize, &Value)| {
        let query = target["expr"].as_str().unwrap_or_default().replace("$__rate_interval", "5m");
        json!({ "record": format!("panel:{number}"), "expr": query })
    };
    let rules: Vec<_> = targets.enumerate().map(rule).collect();
    Ok(json!({ "groups": [{ "name": "dashboard", "rules": rules }] }).to_string())
}
