//! Runs third-party tools on the published document and the running service:
//!
//! - cargo-deny checks the dependencies, linters check the document and the Markdown, and promtool
//!   checks the alerts. Each must succeed and report nothing, not even a hint.
//! - Schemathesis fuzzes the service with requests that it generates from the document.
//! - Other generators generate clients from the document.
//! - Redocly renders the document as a page.
//! - The compatibility check runs in the repository of a consumer.
//!
//! The input of the tools is in `tests/conformance`. The tools are installed in
//! `target/conformance`, never globally, and run on a copy of the input. Python and npm are
//! required. Without promtool, its part is skipped; in CI it fails. After the installation, only
//! cargo-deny uses the network.

mod callers;

use std::env;
use std::time::Instant;

use anyhow::Result;
use clap::Args;
use xshell::{Cmd, cmd};

use crate::checkout::{quietly, root};
use crate::needs::{found_or_skipped, has};
use crate::tools::{self, folder, shell};

/// The parts to run.
#[derive(Args)]
pub struct Parts {
    /// Run only these parts
    #[arg(value_parser = PARTS.map(|part| part.name))]
    parts: Vec<String>,
}

/// A part that can be run on its own.
struct Part {
    /// The name on the command line.
    name: &'static str,
    run: fn() -> Result<()>,
}

/// The parts, in the order in which they run.
const PARTS: [Part; 8] = [
    Part { name: "deny", run: deny },
    Part { name: "linters", run: linters },
    Part { name: "markdown", run: markdown },
    Part { name: "alerts", run: alerts },
    Part { name: "clients", run: callers::clients },
    Part { name: "page", run: page },
    Part { name: "compat", run: consumer },
    Part { name: "fuzz", run: callers::fuzz },
];

/// Runs the parts with these names, or all parts if none is named.
pub fn run(Parts { parts: names }: &Parts) -> Result<()> {
    tools::install()?;
    let is_wanted =
        |part: &Part| names.is_empty() || names.iter().any(|wanted| wanted == part.name);
    for Part { name, run } in PARTS.into_iter().filter(is_wanted) {
        let started = Instant::now();
        run()?;
        println!("{name}: done in {} s", started.elapsed().as_secs());
    }
    Ok(())
}

/// Runs linters on the document.
fn linters() -> Result<()> {
    let sh = shell()?;
    each(cmd!(sh, "redocly lint plant-store.json --config redocly.yaml"))?;
    each(cmd!(sh, "openapi-spec-validator plant-store.json --validation-errors all"))
}

/// Runs markdownlint on every page of the repository: no line is too long, and every link leads to
/// an existing file and heading.
fn markdown() -> Result<()> {
    let sh = shell()?;
    sh.change_dir(root());
    let config = folder().join("pages.markdownlint-cli2.mjs");
    each(cmd!(sh, "markdownlint-cli2 --config {config}"))
}

/// Runs cargo-deny on the dependencies: licences, versions, sources and advisories. Its
/// configuration is `.cargo/deny.toml`. Entries there that are not needed are failures, too.
fn deny() -> Result<()> {
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
    // The workspace of the gate has few dependencies, and needs few of the entries.
    let gate = || {
        cmd!(
            sh,
            "cargo deny --locked --manifest-path xtask/compat/Cargo.toml --config .cargo/deny.toml
                check --allow unmatched-skip --allow unnecessary-skip --allow license-not-encountered
                --allow license-exception-not-encountered"
        )
    };
    each(gate().args(["bans", "licenses", "sources"]))?;
    // The database is a git repository on a code host that not every machine can reach.
    match each(cmd!(sh, "cargo deny fetch db")) {
        Ok(()) => {
            each(check().arg("advisories"))?;
            each(gate().args(["advisories"]))
        }
        Err(error) => {
            let warning = env::var("GITHUB_ACTIONS").map_or("", |_| "::warning::");
            println!("{warning}advisories: skipped, because of their database: {error:#}");
            Ok(())
        }
    }
}

/// Runs Prometheus' own checker on the configuration for Prometheus, and on the alerts that it
/// loads.
fn alerts() -> Result<()> {
    if !found_or_skipped("promtool", has("promtool"), "`apt-get install prometheus`")? {
        return Ok(());
    }
    let sh = shell()?;
    let configuration = root().join("server/prometheus.yaml");
    each(cmd!(sh, "promtool check config {configuration}"))
}

/// Writes the document as a page for people, and the document itself, to `target/docs`. The page
/// loads nothing else.
fn page() -> Result<()> {
    let sh = shell()?;
    let docs = root().join("target/docs");
    sh.create_dir(&docs)?;
    sh.copy_file("plant-store.json", docs.join("plant-store.json"))?;
    each(cmd!(sh, "redocly build-docs plant-store.json --inlineBundle --output {docs}/index.html"))
}

/// Runs the compatibility check of a consumer: the action `.github/actions/compat`, as GitHub runs
/// it, in a folder that is not part of this repository.
fn consumer() -> Result<()> {
    let sh = shell()?;
    let consumer = sh.create_temp_dir()?;
    sh.change_dir(consumer.path());
    let script = folder().join("action.py");
    let action = root().join(".github/actions/compat");
    // The action installs the program. With this target folder, it is only built once.
    let built = root().join("target/conformance/action");
    let run = cmd!(sh, "python {script} {action}").env("CARGO_TARGET_DIR", built);
    print!("{}", quietly(run)?);
    Ok(())
}

/// Prints a command and runs it. It must succeed.
fn each(command: Cmd<'_>) -> Result<()> {
    println!("{command}");
    quietly(command)?;
    Ok(())
}
