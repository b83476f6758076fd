//! The chores that have steps: the checks of a contributor ([`test()`]) and of CI ([`ci()`]), and the
//! benchmark.

use std::thread::available_parallelism;
use std::time::Instant;

use anyhow::{Context, Result};
use xshell::cmd;

use crate::postgres;
use crate::run::{ALL, in_ci, shell, target};

/// A server to compare with, in a workspace of its own: its SQLite is another one.
pub const AXUM_SQLX_SERVER: &str = "tests/bench/axum-sqlx-server/Cargo.toml";

/// The tests below such folders of `tests/e2e` run on one engine or on none. All others run on both.
const NOT_ON_BOTH: &str = "--skip without_store:: --skip sqlite:: --skip postgres::";

/// Format, contract and lints, and every test on SQLite. The quick checks come first, so that a
/// change of the contract fails at once, with the line that says what to do. The tests of the
/// contract, the chores and the READMEs (`without_store`) take seconds.
pub fn test() -> Result<()> {
    step("format", "cargo fmt --all --check")?;
    step("format", &format!("cargo fmt --check --manifest-path {AXUM_SQLX_SERVER}"))?;
    step("build", &format!("cargo build --all-targets {ALL}"))?;
    step("drift check", "cargo xtask generate --check")?;
    step("compatibility check", "cargo xtask compat")?;
    step("contract tests", &format!("cargo test --quiet --test e2e {ALL} -- without_store::"))?;
    step("lints", &format!("cargo clippy --all-targets --quiet {ALL} -- --deny warnings"))?;
    let skip = if postgres::is_there()? { "" } else { "--skip postgres::" };
    step("tests", &format!("cargo test --quiet {ALL} -- --skip without_store:: {skip}"))
}

/// Everything that CI checks.
pub fn ci() -> Result<()> {
    test()?;
    let e2e = format!("cargo test --quiet --test e2e {ALL} --");
    // These tests send HTTP to a server.
    step("tests over TLS", &format!("PLANT_STORE_TESTS_TLS=1 {e2e} wire::"))?;
    if postgres::is_there()? {
        let on_postgres = format!("PLANT_STORE_TESTS_STORE=postgres {e2e} {NOT_ON_BOTH}");
        step("tests on PostgreSQL", &on_postgres)?;
        if postgres::has_citus()? {
            let on_citus = "PLANT_STORE_TESTS_CITUS=1";
            step("tests on Citus", &format!("{on_citus} {e2e} --ignored postgres::citus::"))?;
        }
    }
    step("documentation", &format!("RUSTDOCFLAGS=-Dwarnings cargo doc --no-deps --quiet {ALL}"))?;
    // Each must build from what a registry would get. Cargo builds it outside of the workspace, so
    // the workspace's profile does not hold there. Without debug information cargo can use the
    // dependencies that are built already.
    step(
        "packages",
        "CARGO_PROFILE_DEV_DEBUG=false cargo package --allow-dirty --quiet
            --package plant-store-api --package plant-store-listener --package plant-store-store
            --package plant-store-server --package plant-store-client",
    )?;
    let if_possible = if in_ci() { "" } else { "--if-possible" };
    step("conformance", &format!("cargo xtask conformance {if_possible}"))
}

/// The tests of crashes, faults, floods, copies and both engines, and the fuzzing, at full length.
/// They run one after the other, so that none takes CPU time from the load of another.
pub fn soak() -> Result<()> {
    let postgres = if postgres::is_there()? { "postgres" } else { "" };
    step(
        "soak",
        &format!(
            "PLANT_STORE_SOAK=1 cargo test --release --package plant-store-tests --test e2e --
                hard_to_kill operators sqlite fuzzing {postgres} --test-threads 1 --nocapture"
        ),
    )
}

/// Release builds of the service and of what it is compared with, and the benchmark with these arguments.
pub fn bench(arguments: &[&str]) -> Result<()> {
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

/// Runs a command, in the environment that its first words set.
fn step(name: &str, command: &str) -> Result<()> {
    println!("{name} …");
    let started = Instant::now();
    let sh = shell()?;
    // More than cores, because most tests wait for a process half of their time.
    let threads = 2 * available_parallelism().map_or(1, Into::into);
    sh.set_var("RUST_TEST_THREADS", threads.to_string());
    cmd!(sh, "env")
        .args(command.split_whitespace())
        .run()
        .with_context(|| format!("{name}: failed"))?;
    println!("{name}: {} s", started.elapsed().as_secs());
    Ok(())
}
