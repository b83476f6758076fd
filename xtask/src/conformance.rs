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
//! `target/conformance`, with pinned versions and never globally, and run on a copy of the input.
//! Python and npm are required. Without promtool, its part is skipped; in CI it fails. After the
//! installation, only cargo-deny uses the network.

use std::env;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::Value;
use xshell::{Shell, cmd};

use crate::checkout::{self, DOCUMENT, build, quietly, root};
use crate::checks::found_or_skipped;
use crate::server::Running;

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
    Part { name: "clients", run: clients },
    Part { name: "page", run: page },
    Part { name: "compat", run: consumer },
    Part { name: "fuzz", run: fuzz },
];

/// Runs the parts with these names, or all parts if none is named.
pub fn run(Parts { parts: names }: &Parts) -> Result<()> {
    install()?;
    let is_wanted =
        |part: &Part| names.is_empty() || names.iter().any(|wanted| wanted == part.name);
    for Part { name, run } in PARTS.into_iter().filter(is_wanted) {
        let started = Instant::now();
        run()?;
        println!("{name}: done in {} s", started.elapsed().as_secs());
    }
    Ok(())
}

/// Returns the folder in which the tools are installed.
fn folder() -> PathBuf {
    root().join("target/conformance")
}

/// Copies `tests/conformance`, which contains the lock files of the tools, and the document into
/// [`folder`], and installs the tools: what npm and pip have downloaded before, they do not
/// download again. Removes the clients that were generated from an earlier document.
fn install() -> Result<()> {
    let sh = shell()?;
    let folder = folder();
    sh.remove_path(folder.join("clients"))?;
    sh.create_dir(&folder)?;
    quietly(cmd!(sh, "cp -R tests/conformance/. {folder}"))?;
    sh.copy_file(DOCUMENT, &folder)?;
    let _in_the_folder = sh.push_dir(folder);
    quietly(cmd!(sh, "npm ci --prefer-offline"))?;
    quietly(cmd!(sh, "python3 -m venv venv"))?;
    // Without dependencies, so that pip installs no package that the list does not name. The check
    // then reports missing dependencies.
    quietly(cmd!(sh, "pip install --no-deps --requirement requirements.txt"))?;
    quietly(cmd!(sh, "pip check")).map(drop)
}

/// Returns a shell in the root of the checkout, whose `PATH` starts with the tools.
fn shell() -> Result<Shell> {
    let sh = checkout::shell()?;
    let tools = ["venv/bin", "node_modules/.bin"].map(|bin| folder().join(bin));
    let machine = env::var_os("PATH").unwrap_or_default();
    let path = tools.into_iter().chain(env::split_paths(&machine));
    sh.set_var("PATH", env::join_paths(path)?);
    sh.set_var("REDOCLY_TELEMETRY", "off");
    Ok(sh)
}

/// Prints a line of shell, and runs it in the root of the checkout. It must succeed.
fn run_line(line: &str) -> Result<()> {
    println!("{line}");
    let sh = shell()?;
    quietly(cmd!(sh, "sh -ec {line}")).map(drop)
}

/// Runs cargo-deny on the dependencies: licences, versions, sources and advisories. Its
/// configuration is `.cargo/deny.toml`. Entries there that are not needed are failures, too.
fn deny() -> Result<()> {
    let check = |what: &str| {
        run_line(&format!(
            "cargo deny --locked check --deny unmatched-skip --deny unnecessary-skip \
             --deny license-exception-not-encountered {what}"
        ))?;
        // The workspace of `openapi-compat` has few dependencies, and needs few of the entries.
        run_line(&format!(
            "cargo deny --locked --manifest-path xtask/compat/Cargo.toml \
             --config .cargo/deny.toml check --allow unmatched-skip --allow unnecessary-skip \
             --allow license-not-encountered --allow license-exception-not-encountered {what}"
        ))
    };
    check("bans licenses sources")?;
    // The database is a git repository on a code host that not every machine can reach.
    match run_line("cargo deny fetch db") {
        Ok(()) => check("advisories"),
        Err(error) => {
            let warning = env::var("GITHUB_ACTIONS").map_or("", |_| "::warning::");
            println!("{warning}advisories: skipped, because of their database: {error:#}");
            Ok(())
        }
    }
}

/// Runs linters on the document, with all of their recommended rules. A warning is a failure.
fn linters() -> Result<()> {
    run_line("redocly lint openapi/plant-store.json --extends recommended-strict")?;
    run_line("openapi-spec-validator openapi/plant-store.json --validation-errors all")
}

/// Runs markdownlint on every page of the repository: no line is too long, and every link leads to
/// an existing file and heading.
fn markdown() -> Result<()> {
    run_line("markdownlint-cli2 --config target/conformance/pages.markdownlint-cli2.mjs")
}

/// Runs Prometheus' own checker on the configuration for Prometheus, and on the alerts that it
/// loads.
fn alerts() -> Result<()> {
    if found_or_skipped("promtool", "promtool --version", "`apt-get install prometheus`")? {
        run_line("promtool check config server/prometheus.yaml")?;
    }
    Ok(())
}

/// Runs the clients of other generators. The `run.sh` in each folder of `tests/conformance/clients`
/// generates a client from the document and calls the service with it: it creates a plant, causes a
/// conflict, sends a token that is refused, and reads both members of the typed error. It meets a
/// refusal with `Retry-After` once, because each token has one permit.
fn clients() -> Result<()> {
    let sh = shell()?;
    for client in sh.read_dir(folder().join("clients"))? {
        println!("{}", client.display());
        let service = serve(&["--max-creates", "2"])?;
        let _in_the_folder = sh.push_dir(client);
        quietly(cmd!(sh, "sh -eux run.sh").envs(service.environment()))?;
    }
    Ok(())
}

/// Writes the document as a page for people, and the document itself, to `target/docs`. The page
/// loads nothing else.
fn page() -> Result<()> {
    run_line("mkdir -p target/docs && cp openapi/plant-store.json target/docs")?;
    run_line(
        "redocly build-docs openapi/plant-store.json --inlineBundle --output target/docs/index.html",
    )
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
    let built = folder().join("action");
    let run = cmd!(sh, "python {script} {action}").env("CARGO_TARGET_DIR", built);
    print!("{}", quietly(run)?);
    Ok(())
}

/// The minimum total number of requests of Schemathesis. CONTRIBUTING.md promises it.
const ENOUGH: u64 = 5_000;

/// The kinds of requests, and the flags that make Schemathesis send them. They run one after the
/// other, because a mixed run may send hardly any requests of one kind.
const KINDS: [(&str, &[&str]); 3] = [
    ("valid", &["--mode", "positive"]),
    ("invalid", &["--mode", "negative", "--generation-with-security-parameters", "false"]),
    ("invalid, credentials included", &["--mode", "negative"]),
];

/// Runs Schemathesis, which generates valid and invalid requests from the document. The answer to
/// each must match the document.
fn fuzz() -> Result<()> {
    let sh = shell()?;
    sh.change_dir(folder());
    let report = ["--report", "json", "--report-json-path", "schemathesis.json"];
    let mut requests = 0;
    for (kind, flags) in KINDS {
        // On a new store each time, because the hook only knows the ids of its own run.
        let service = serve(&[])?;
        let schemathesis = cmd!(sh, "schemathesis run plant-store.json {report...} {flags...}");
        quietly(schemathesis.envs(service.environment()))?;
        let report: Value = serde_json::from_str(&sh.read_file("schemathesis.json")?)?;
        let generated = report["test_cases"]["generated"].as_u64();
        let sent = generated.context("the report counts no test cases")?;
        println!("schemathesis: {sent} requests ({kind}), no failure");
        requests += sent;
    }
    ensure!(requests >= ENOUGH, "Schemathesis sent {requests} requests, not {ENOUGH}");
    Ok(())
}

/// Starts the service in a folder that keeps the store and the log until the next start.
fn serve(flags: &[&str]) -> Result<Running> {
    let sh = shell()?;
    let store = folder().join("store");
    sh.remove_path(&store)?;
    sh.create_dir(&store)?;
    let mut command = Command::new(build("--bin", "plant-store")?);
    command.args(["serve", "--listen", "127.0.0.1:0"]).args(flags);
    Running::start(&mut command, &store)
        .with_context(|| format!("see the log in {}", store.display()))
}
