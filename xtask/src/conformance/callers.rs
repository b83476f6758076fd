//! Third-party programs that call the service. The service runs on a new store for each of them.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use xshell::cmd;

use crate::checkout::{build, quietly};
use crate::server::Running;
use crate::tools::{folder, shell};

/// The minimum total number of requests. CONTRIBUTING.md promises it.
const ENOUGH: u64 = 5_000;

/// The kinds of requests, and the flags that make Schemathesis send them. They run one after the
/// other, because a mixed run may send hardly any requests of one kind.
const KINDS: [Kind; 3] = [
    Kind { name: "valid", flags: &["--mode", "positive"] },
    Kind {
        name: "invalid",
        flags: &["--mode", "negative", "--generation-with-security-parameters", "false"],
    },
    Kind { name: "invalid, credentials included", flags: &["--mode", "negative"] },
];

struct Kind {
    name: &'static str,
    /// The flags for Schemathesis.
    flags: &'static [&'static str],
}

const REPORT: &str = "schemathesis.json";

/// Runs the clients of other generators. The `run.sh` in each folder of `tests/conformance/clients`
/// generates a client from the document and calls the service with it: it creates a plant, causes a
/// conflict, sends a token that is refused, and reads both members of the typed error. It meets a
/// refusal with `Retry-After` once, because each token has one permit.
pub fn clients() -> Result<()> {
    let sh = shell()?;
    for client in sh.read_dir("clients")? {
        println!("{}", client.display());
        let service = serve(&["--max-creates", "2"])?;
        let _folder = sh.push_dir(client);
        quietly(cmd!(sh, "sh -eux run.sh").envs(service.environment()))?;
    }
    Ok(())
}

/// Runs Schemathesis, which generates valid and invalid requests from the document. The answer to
/// each must match the document.
pub fn fuzz() -> Result<()> {
    let sh = shell()?;
    let mut requests = 0;
    for Kind { name, flags } in KINDS {
        // On a new store each time, because the hook only knows the ids of its own run.
        let service = serve(&[])?;
        let schemathesis = cmd!(
            sh,
            "schemathesis run plant-store.json --report json --report-json-path {REPORT} {flags...}"
        );
        quietly(schemathesis.envs(service.environment()))?;
        let report: Value = serde_json::from_str(&sh.read_file(REPORT)?)?;
        let generated = report["test_cases"]["generated"].as_u64();
        let sent = generated.context("the report counts no test cases")?;
        println!("schemathesis: {sent} requests ({name}), no failure");
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
