//! The checks, step by step: those of a contributor ([`test()`]), and those of CI ([`ci()`]).

use std::num::NonZeroUsize;
use std::thread::available_parallelism;
use std::time::Instant;

use anyhow::{Context, Result};
use xshell::cmd;

use crate::bench::AXUM_SQLX_SERVER;
use crate::postgres;
use crate::programs::{self, ALL, CHORES};
use crate::run::shell;

/// The tests below this folder of `tests/e2e` send HTTP to a server. They run over TLS too.
const OVER_TLS: &str = "wire::";

/// The tests below such folders of `tests/e2e` run on one engine or on none. All others run on both.
const NOT_ON_BOTH: [&str; 3] = ["without_store::", "sqlite::", "postgres::"];

/// The tests of the contract, the chores and the READMEs: they take seconds, so they run first.
const QUICK: &str = "without_store::";

/// The tests that need Citus, and are ignored in all other runs.
const ON_CITUS: &str = "postgres::citus::";

/// Format, contract and lints, and every test on SQLite. The quick checks come first, so that a
/// change of the contract fails at once, with the line that says what to do.
pub fn test() -> Result<()> {
    let sh = shell()?;
    step("format", || {
        cmd!(sh, "cargo fmt --all --check").run()?;
        Ok(cmd!(sh, "cargo fmt --check --manifest-path {AXUM_SQLX_SERVER}").run()?)
    })?;
    step("build", || Ok(cmd!(sh, "cargo build --all-targets").args(ALL).run()?))?;
    let chores = programs::path(CHORES)?;
    step("drift check", || Ok(cmd!(sh, "{chores} generate --check").run()?))?;
    step("compatibility check", || Ok(cmd!(sh, "{chores} compat").run()?))?;
    step("contract tests", || {
        Ok(cmd!(sh, "cargo test --quiet --test e2e").args(ALL).args(["--", QUICK]).run()?)
    })?;
    step("lints", || {
        let clippy = cmd!(sh, "cargo clippy --all-targets --quiet").args(ALL);
        Ok(clippy.args(["--", "--deny", "warnings"]).run()?)
    })?;
    let without = if postgres::is_there()? { &[][..] } else { &["--skip", "postgres::"] };
    step("tests", || {
        let threads = test_threads();
        let tests =
            cmd!(sh, "cargo test --quiet").args(ALL).args(["--", "--test-threads", &threads]);
        Ok(tests.args(["--skip", QUICK]).args(without).run()?)
    })
}

/// Everything that CI checks.
pub fn ci() -> Result<()> {
    test()?;
    let sh = shell()?;
    let threads = test_threads();
    let e2e = || {
        let e2e = cmd!(sh, "cargo test --quiet --test e2e").args(ALL);
        e2e.args(["--", "--test-threads", &threads])
    };
    step("tests over TLS", || Ok(e2e().arg(OVER_TLS).env("PLANT_STORE_TESTS_TLS", "1").run()?))?;
    if postgres::is_there()? {
        let without = NOT_ON_BOTH.iter().flat_map(|folder| ["--skip", folder]);
        let on_postgres = e2e().args(without).env("PLANT_STORE_TESTS_STORE", "postgres");
        step("tests on PostgreSQL", || Ok(on_postgres.run()?))?;
        if postgres::has_citus()? {
            let on_citus = e2e().args(["--ignored", ON_CITUS]).env(postgres::CITUS, "1");
            step("tests on Citus", || Ok(on_citus.run()?))?;
        }
    }
    step("documentation", || {
        let doc = cmd!(sh, "cargo doc --no-deps --quiet").args(ALL);
        Ok(doc.env("RUSTDOCFLAGS", "--deny warnings").run()?)
    })?;
    // Each must build from what a registry would get. Cargo builds it outside of the workspace, so
    // the workspace's profile does not hold there. Without debug information cargo can use the
    // dependencies that are built already.
    step("packages", || {
        let package = cmd!(
            sh,
            "cargo package --allow-dirty --quiet --package plant-store-api
                --package plant-store-server --package plant-store-client"
        );
        Ok(package.env("CARGO_PROFILE_DEV_DEBUG", "false").run()?)
    })?;
    let chores = programs::path(CHORES)?;
    step("conformance", || Ok(cmd!(sh, "{chores} conformance --if-possible").run()?))
}

/// The tests of crashes, faults, floods, copies and both engines, and the fuzzing, at full length.
/// They run one after the other, so that none takes CPU time from the load of another.
pub fn soak() -> Result<()> {
    let sh = shell()?;
    let postgres = postgres::is_there()?.then_some("postgres");
    cmd!(
        sh,
        "cargo test --release --package plant-store-tests --test e2e --
            hard_to_kill operators sqlite fuzzing {postgres...} --test-threads 1 --nocapture"
    )
    .env("PLANT_STORE_SOAK", "1")
    .run()?;
    Ok(())
}

/// More threads than cores, because most tests wait for a process half of their time.
fn test_threads() -> String {
    let cores = available_parallelism().map_or(1, NonZeroUsize::get);
    (2 * cores).to_string()
}

fn step(name: &str, run: impl FnOnce() -> Result<()>) -> Result<()> {
    println!("{name} …");
    let started = Instant::now();
    run().with_context(|| format!("{name}: failed"))?;
    println!("{name}: {} s", started.elapsed().as_secs());
    Ok(())
}
