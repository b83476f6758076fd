//! The chores that run tests: the checks of a contributor ([`test()`]) and of CI ([`ci()`]), and
//! the drift check and [`generate()`].

use std::env;
use std::thread::available_parallelism;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use xshell::{Cmd, cmd};

use crate::checkout::{linting_shell, quietly, shell};
use crate::faults;

/// Succeeds if PostgreSQL has the extension Citus, which no distribution packages. The folder on
/// the `PATH` may only contain links to some of PostgreSQL's programs.
const HAS_CITUS: &str = r#"
    programs=$(dirname "$(realpath "$(command -v postgres)")")
    test -f "$("$programs/pg_config" --sharedir)/extension/citus.control""#;

/// The flags that skip the tests that do not run on both engines.
const SKIP_ONE_ENGINE: [&str; 6] =
    ["--skip", "without_store::", "--skip", "sqlite::", "--skip", "postgres::"];

/// The tests of the contract, the pages and the command line.
const CONTRACT_TESTS: &str = "without_store::";

/// The tests that compare the checked-in files with the files that the code generates: of the plant
/// store in `golden`, and of the goose farm in its `suite`.
const DRIFT_TESTS: [&str; 6] = ["--test", "golden", "--test", "suite", "--", "up_to_date"];

/// Checks format, contract and lints, and runs every test on SQLite.
///
/// The quick checks come first, so that an incomplete change of the contract fails early, with a
/// line that says what to do.
pub fn test() -> Result<()> {
    let sh = linting_shell()?;
    step("format", cmd!(sh, "cargo fmt --all --check"))?;
    faults::check()?;
    step("build", cmd!(sh, "cargo build --all-targets"))?;
    drift()?;
    step("compatibility check", cmd!(sh, "cargo xtask compat"))?;
    step("contract tests", cmd!(sh, "cargo test --quiet --test e2e -- {CONTRACT_TESTS}"))?;
    // Cargo prints the warnings of earlier builds again.
    let warnings = cmd!(sh, "cargo build --quiet --all-targets").read_stderr()?;
    ensure!(warnings.is_empty(), "lints failed:\n{warnings}");
    let others = cmd!(sh, "cargo test --quiet -- --skip {CONTRACT_TESTS}");
    let on_postgres: &[&str] = if found_postgres()? { &[] } else { &["--skip", "postgres::"] };
    step("tests", others.args(on_postgres))
}

/// Fails unless the checked-in files are the files that the code generates.
pub fn drift() -> Result<()> {
    let sh = linting_shell()?;
    let drift = cmd!(sh, "cargo test --quiet").args(DRIFT_TESTS);
    step("drift check", drift).context("run `cargo xtask generate`")
}

/// Writes the generated files. The tests that compare them with the checked-in files overwrite
/// the checked-in files.
pub fn generate() -> Result<()> {
    let sh = linting_shell()?;
    // Show the progress, because the first build takes a minute.
    cmd!(sh, "cargo build --test golden --test suite").quiet().run()?;
    let tests = cmd!(sh, "cargo test").args(DRIFT_TESTS);
    quietly(tests.env("EXPECTORATE", "overwrite"))?;
    println!("the generated files are written: `git diff` shows what has changed");
    Ok(())
}

/// Runs everything that CI checks. If Citus is missing, the last line says so.
pub fn ci() -> Result<()> {
    test()?;
    let sh = linting_shell()?;
    let e2e = || cmd!(sh, "cargo test --quiet --test e2e --");
    let has_citus = succeeds(HAS_CITUS);
    if found_postgres()? {
        let on_postgres = e2e().args(SKIP_ONE_ENGINE).env("PLANT_STORE_TESTS_STORE", "postgres");
        step("tests on PostgreSQL", on_postgres)?;
    }
    if has_citus {
        let on_citus = e2e().args(["--ignored", "postgres::"]);
        step("tests on Citus", on_citus.env("PLANT_STORE_TESTS_CITUS", "1"))?;
    }
    openapi_compat()?;
    let documentation = cmd!(sh, "cargo doc --no-deps --quiet");
    step("documentation", documentation.env("RUSTDOCFLAGS", "-Dwarnings"))?;
    if found_or_skipped("lintian", "lintian --version", "`apt-get install lintian dpkg-dev`")? {
        step("Debian package", cmd!(sh, "cargo xtask release --profile dev"))?;
    }
    let python = "install Python 3.11 or newer, with `venv`";
    if found_or_skipped("Python", "python3 --version", python)?
        && found_or_skipped("npm", "npm --version", "install Node.js 20 or newer")?
    {
        step("conformance", cmd!(sh, "cargo xtask conformance"))?;
    }
    if !has_citus {
        println!("Citus was not tested: PostgreSQL lacks the extension (docs.citusdata.com)");
    }
    Ok(())
}

/// Lints and tests `openapi-compat`, which is a workspace of its own.
fn openapi_compat() -> Result<()> {
    let sh = shell()?;
    sh.change_dir("xtask/compat");
    let lints = cmd!(sh, "cargo clippy --quiet --locked --all-targets -- --deny warnings");
    step("lints of openapi-compat", lints)?;
    step("tests of openapi-compat", cmd!(sh, "cargo test --quiet --locked"))
}

fn found_postgres() -> Result<bool> {
    let to_install = "install Debian's `postgresql`, or put `initdb` on the PATH";
    found_or_skipped("PostgreSQL", "initdb --version && postgres --version", to_install)
}

/// Returns whether a program was found: whether this shell command succeeds. If not, prints that
/// the checks that need the program are skipped, and what to install. In CI, where nothing may be
/// skipped, a missing program is an error.
pub fn found_or_skipped(name: &str, command: &str, to_install: &str) -> Result<bool> {
    let is_found = succeeds(command);
    let missing = format!("{name} is missing: {to_install}");
    let is_ci = env::var_os("CI").is_some_and(|ci| !ci.is_empty());
    ensure!(is_found || !is_ci, "{missing}; in CI no check may be skipped");
    if !is_found {
        println!("skipped, because {missing}");
    }
    Ok(is_found)
}

/// Returns whether a shell command succeeds. Its `PATH` ends with PostgreSQL's programs of the
/// newest version that Debian has installed, which puts none of them on the `PATH`.
fn succeeds(command: &str) -> bool {
    let programs = "PATH=$PATH:$(ls -d /usr/lib/postgresql/*/bin | tail -n 1)";
    let command = format!("{programs}\n{command}");
    shell().is_ok_and(|sh| quietly(cmd!(sh, "sh -c {command}")).is_ok())
}

/// Runs a command, and prints how long it took.
fn step(name: &str, command: Cmd<'_>) -> Result<()> {
    println!("{name} …");
    let started = Instant::now();
    // More threads than cores, because most tests mostly wait for a process.
    let threads = 6 * available_parallelism().map_or(1, Into::into);
    let command = command.env("RUST_TEST_THREADS", threads.to_string());
    command.run().with_context(|| format!("{name} failed"))?;
    println!("{name}: {} s", started.elapsed().as_secs());
    Ok(())
}
