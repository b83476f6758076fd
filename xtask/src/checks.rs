//! The chores that have steps: the checks of a contributor ([`test()`]) and of CI ([`ci()`]).

use std::env;
use std::fs;
use std::path::PathBuf;
use std::thread::available_parallelism;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use xshell::{Cmd, Shell, cmd};

use crate::cargo::ALL;
use crate::checkout::shell;
use crate::needs::{self, has, in_ci};
use crate::postgres;
use crate::run::quietly;

/// The tests below such folders of `tests/e2e` run on one engine or on none. All others run on
/// both.
const NOT_ON_BOTH: [&str; 6] =
    ["--skip", "without_store::", "--skip", "sqlite::", "--skip", "postgres::"];

/// The tests of the contract, the pages and the command line.
const CONTRACT_TESTS: &str = "without_store::";

/// Format, contract and lints, and every test on SQLite. The quick checks come first, so that a
/// change of the contract fails at once, with the line that says what to do. The tests of the
/// contract take seconds. With names, only the end-to-end tests of these names.
pub fn test(names: &[String]) -> Result<()> {
    let sh = shell()?;
    if !names.is_empty() {
        return step("tests", cmd!(sh, "cargo test --test e2e {ALL...} -- {names...}"));
    }
    step("format", cmd!(sh, "cargo fmt --all --check"))?;
    step("build", cmd!(sh, "cargo build --all-targets {ALL...}"))?;
    drift()?;
    step("compatibility check", cmd!(sh, "cargo xtask compat"))?;
    step("contract tests", cmd!(sh, "cargo test --quiet --test e2e {ALL...} -- {CONTRACT_TESTS}"))?;
    // Cargo repeats the warnings of what it has built.
    let warnings = cmd!(sh, "cargo build --quiet --all-targets {ALL...}").read_stderr()?;
    ensure!(warnings.is_empty(), "lints: failed\n{warnings}");
    let others = cmd!(sh, "cargo test --quiet {ALL...} -- --skip {CONTRACT_TESTS}");
    let on_postgres: &[&str] =
        if postgres::found_or_skipped()? { &[] } else { &["--skip", "postgres::"] };
    step("tests", others.args(on_postgres))
}

/// Whether the checked-in files are what the code generates.
pub fn drift() -> Result<()> {
    let sh = shell()?;
    let golden = cmd!(sh, "cargo test --quiet --test golden {ALL...}");
    step("drift check", golden).context("run `cargo xtask generate`")
}

/// Writes what the code generates: the test that compares it with the checked-in files overwrites
/// them.
pub fn generate() -> Result<()> {
    let sh = shell()?;
    // Not in silence: the first time it takes a minute.
    cmd!(sh, "cargo build --test golden {ALL...}").quiet().run()?;
    quietly(cmd!(sh, "cargo test --test golden {ALL...}").env("EXPECTORATE", "overwrite"))?;
    println!("wrote the document, the client and the tables of errors, where they were different");
    Ok(())
}

/// Everything that CI checks.
pub fn ci() -> Result<()> {
    test(&[])?;
    let sh = shell()?;
    let e2e = || cmd!(sh, "cargo test --quiet --test e2e {ALL...} --");
    if postgres::found_or_skipped()? {
        let on_postgres = e2e().args(NOT_ON_BOTH).env("PLANT_STORE_TESTS_STORE", "postgres");
        step("tests on PostgreSQL", on_postgres)?;
        if postgres::citus_found_or_skipped()? {
            let on_citus = e2e().args(["--ignored", "postgres::citus::"]);
            step("tests on Citus", on_citus.env("PLANT_STORE_TESTS_CITUS", "1"))?;
        }
    }
    // `test` does not build the servers of the benchmark.
    let servers = cmd!(sh, "cargo clippy --workspace --all-features --bins --quiet");
    step("lints of the benchmark", servers.args(["--", "--deny", "warnings"]))?;
    let documentation = cmd!(sh, "cargo doc --no-deps --quiet {ALL...}");
    step("documentation", documentation.env("RUSTDOCFLAGS", "-Dwarnings"))?;
    forget_packages(&sh)?;
    let packages = cmd!(
        sh,
        "cargo package --allow-dirty --quiet
            --package plant-store-api --package plant-store-store
            --package plant-store-server --package plant-store-client"
    );
    // Each must build from what a registry would get. Cargo builds it outside of the workspace, so
    // the workspace's profile does not hold there. Without debug information cargo can use the
    // dependencies that are built already.
    step("packages", packages.env("CARGO_PROFILE_DEV_DEBUG", "false"))?;
    if needs::found_or_skipped("lintian", has("lintian"), "`apt-get install lintian dpkg-dev`")? {
        step("Debian package", cmd!(sh, "cargo xtask release --profile dev"))?;
    }
    // not copied
    step("copies", cmd!(sh, "cargo xtask try-new"))?;
    // end of not copied
    let if_possible = (!in_ci()).then_some("--if-possible");
    step("conformance", cmd!(sh, "cargo xtask conformance {if_possible...}"))
}

/// Removes what cargo has unpacked of our packages in its home, and what it has built of them. For
/// the same path and version cargo uses what is there, also if an older commit has left it.
fn forget_packages(sh: &Shell) -> Result<()> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| env::home_dir().map(|home| home.join(".cargo")));
    let unpacked = home.context("cargo has no home")?.join("registry/src");
    for registry in fs::read_dir(unpacked).into_iter().flatten() {
        let registry = registry?.path();
        for name in ["plant-store-api", "plant-store-store"] {
            let package = registry.join(format!("{name}-{}", env!("CARGO_PKG_VERSION")));
            if package.exists() {
                fs::remove_dir_all(package)?;
            }
        }
    }
    let clean =
        cmd!(sh, "cargo clean --quiet --package plant-store-api --package plant-store-store");
    step("older packages", clean)
}

/// The tests of crashes, faults, floods, copies and both engines, at full length.
/// They run one after the other, so that none takes CPU time from the load of another.
pub fn soak() -> Result<()> {
    let sh = shell()?;
    let on_postgres = postgres::found_or_skipped()?.then_some("postgres");
    let tests = cmd!(
        sh,
        "cargo test --release --package plant-store-tests --test e2e --
            hard_to_kill operators sqlite {on_postgres...} --test-threads 1 --nocapture"
    );
    step("soak", tests.env("PLANT_STORE_SOAK", "1"))
}

/// Runs a command to its end, and says how long it took.
fn step(name: &str, command: Cmd<'_>) -> Result<()> {
    println!("{name} …");
    let started = Instant::now();
    // More than cores, because most tests wait for a process most of their time.
    let threads = 4 * available_parallelism().map_or(1, Into::into);
    let command = command.env("RUST_TEST_THREADS", threads.to_string());
    command.run().with_context(|| format!("{name}: failed"))?;
    println!("{name}: {} s", started.elapsed().as_secs());
    Ok(())
}
