//! Schemathesis: it makes valid and invalid requests from the document. Each must be answered as
//! the document says.

use std::fs;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use xshell::cmd;

use super::service::Service;
use crate::tools::{folder, shell};
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
    let mut requests = 0;
    for (kind, flags) in KINDS {
        let sent = fuzz(flags)?;
        println!("schemathesis: {sent} requests ({kind}), no failure");
        requests += sent;
    }
    ensure!(requests >= ENOUGH, "Schemathesis sent {requests} requests; {ENOUGH} are asked for");
    Ok(())
}

/// Returns how many requests were sent.
fn fuzz(flags: &[&str]) -> Result<u64> {
    // On a new store each time: the hook knows the ids of its own run alone.
    let service = Service::start(&[])?;
    let sh = shell()?;
    quietly(
        cmd!(
            sh,
            "schemathesis run plant-store.json --report json --report-json-path {REPORT} {flags...}"
        )
        .envs(service.environment()),
    )?;
    let report = fs::read(folder().join(REPORT)).context("Schemathesis wrote no report")?;
    let report: Value = serde_json::from_slice(&report).context("the report is not JSON")?;
    report["test_cases"]["generated"].as_u64().context("the report counts no test cases")
}
