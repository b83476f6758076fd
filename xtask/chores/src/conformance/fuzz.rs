//! Schemathesis: it makes valid and invalid requests from the document. Each must be answered as
//! the document says.

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use xshell::cmd;

use super::service::Service;
use crate::tools::shell;
use xtask::run::quietly;

/// The least number of requests in all. The README promises it.
const ENOUGH: u64 = 5_000;

/// What is sent, and how Schemathesis is asked for it: one kind after the other, because a
/// mixed run may make hardly any requests of one kind.
const KINDS: [(&str, &[&str]); 3] = [
    ("valid", &["--mode", "positive"]),
    ("invalid", &["--mode", "negative", "--generation-with-security-parameters", "false"]),
    ("invalid, credentials included", &["--mode", "negative"]),
];

const REPORT: &str = "schemathesis.json";

pub fn run() -> Result<()> {
    let (sh, mut requests) = (shell()?, 0);
    for (kind, flags) in KINDS {
        // On a new store each time: the hook knows the ids of its own run alone.
        let service = Service::start(&[])?;
        let schemathesis = cmd!(
            sh,
            "schemathesis run plant-store.json --report json --report-json-path {REPORT} {flags...}"
        );
        quietly(schemathesis.envs(service.environment()))?;
        let report: Value = serde_json::from_str(&sh.read_file(REPORT)?)?;
        let sent = &report["test_cases"]["generated"];
        let sent = sent.as_u64().context("the report counts no test cases")?;
        println!("schemathesis: {sent} requests ({kind}), no failure");
        requests += sent;
    }
    ensure!(requests >= ENOUGH, "Schemathesis sent {requests} requests; {ENOUGH} are asked for");
    Ok(())
}
