//! The benchmark: release builds of the service and of what it is compared with.

use anyhow::Result;
use xshell::cmd;

use crate::checks::step;
use crate::run::{shell, target};

/// A server to compare with, in a workspace of its own: its SQLite is another one.
pub const AXUM_SQLX_SERVER: &str = "tests/bench/axum-sqlx-server/Cargo.toml";

/// Builds everything, and runs the benchmark with these arguments.
pub fn run(arguments: &[&str]) -> Result<()> {
    let (sh, target) = (shell()?, target()?);
    let release = "cargo build --release --quiet --locked";
    let packages = "--bins --package plant-store-server --package plant-store-bench";
    step("service", &format!("{release} {packages}"))?;
    let peer = target.join("axum-sqlx-server");
    let peer = format!("--manifest-path {AXUM_SQLX_SERVER} --target-dir {}", peer.display());
    step("axum and sqlx", &format!("{release} {peer}"))?;
    let bench = target.join("release/bench");
    Ok(cmd!(sh, "{bench} {arguments...}").run()?)
}
