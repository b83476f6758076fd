//! The benchmark: release builds of the service and of what it is compared with.

use anyhow::Result;
use xshell::cmd;

use crate::programs;
use crate::run::shell;

/// A server to compare with, in a workspace of its own: its SQLite is another one.
pub const AXUM_SQLX_SERVER: &str = "tests/bench/axum-sqlx-server/Cargo.toml";

/// Builds everything, and runs the benchmark with these arguments.
pub fn run(arguments: &[&str]) -> Result<()> {
    let sh = shell()?;
    let peer = programs::target()?.join("axum-sqlx-server");
    cmd!(
        sh,
        "cargo build --release --quiet --bins
            --package plant-store-server --package plant-store-bench"
    )
    .run()?;
    cmd!(
        sh,
        "cargo build --release --quiet --locked
            --manifest-path {AXUM_SQLX_SERVER} --target-dir {peer}"
    )
    .run()?;
    let bench = programs::target()?.join("release/bench");
    Ok(cmd!(sh, "{bench} {arguments...}").run()?)
}
