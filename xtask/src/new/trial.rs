//! Checks `cargo xtask new` with two sets of names. In one of the copies, also checks the patch that
//! adds a second operation, as an example for whoever adds one.
//!
//! Nothing here changes the checkout.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use xshell::{Shell, cmd};

use crate::cargo::ALL;
use crate::checkout::{shell, target};
use crate::new::{Copy, UNCHANGED, grep, make};
use crate::postgres;
use crate::run::quietly;

/// The patch with the second operation, relative to the root of the repository.
pub const PATCH: &str = "tests/second-operation.patch";

/// Makes two copies in temporary folders and checks them.
pub fn run() -> Result<()> {
    let sh = shell()?;
    let target = link_dependencies(&sh)?;
    sh.set_var("CARGO_TARGET_DIR", &target);
    let temporary = sh.create_temp_dir()?;
    // `order` is a reserved word of SQL, and takes another article than `plant`.
    for (service, resource) in [("order-desk", "order"), ("seed-bank", "seed")] {
        let folder = temporary.path().join(service);
        let (service, resource) = (service.to_owned(), resource.to_owned());
        make(&Copy { folder: folder.clone(), service, resource, plural: None }, &sh)?;
        let _in_the_copy = sh.push_dir(&folder);
        ensure_no_old_name(&sh)?;
    }
    sh.change_dir(temporary.path().join("seed-bank"));
    check_copy(&sh)?;
    check_patch(&sh)?;
    sh.remove_path(&target)?;
    Ok(())
}

/// Creates a target folder for the copies, with hard links to the dependencies that are already
/// built. A target folder that two checkouts share would mix up their packages.
fn link_dependencies(sh: &Shell) -> Result<PathBuf> {
    let target = target()?;
    let copies = target.join("copies");
    let debug = copies.join("debug");
    sh.remove_path(&copies)?;
    sh.create_dir(&debug)?;
    for folder in ["build", "deps", ".fingerprint"] {
        let from = target.join("debug").join(folder);
        quietly(cmd!(sh, "cp --archive --link {from} {debug}"))?;
    }
    quietly(cmd!(sh, "cargo clean --workspace --target-dir {copies}"))?;
    Ok(copies)
}

/// Fails if a path or a file of the copy contains a name of this service, or a part that should not
/// have been copied.
fn ensure_no_old_name(sh: &Shell) -> Result<()> {
    let elsewhere = format!(":!{UNCHANGED}");
    let paths = quietly(cmd!(sh, "git ls-files -- :(icase)*plant* {elsewhere}"))?;
    ensure!(paths.is_empty(), "the copy has files with an old name:\n{paths}");
    let lines = grep(sh, r"plant|\bpst_|not copied", "*")?;
    ensure!(lines.is_empty(), "the copy contains an old name:\n{lines}");
    Ok(())
}

/// Runs the drift check, the lints and the contract tests, and creates a resource with the printed
/// curl command.
fn check_copy(sh: &Shell) -> Result<()> {
    quietly(cmd!(sh, "cargo xtask generate --check"))?;
    lint(sh)?;
    let tests = ["without_store::", "first_use::"];
    quietly(cmd!(sh, "cargo test --test e2e {ALL...} -- {tests...}"))?;
    Ok(())
}

/// Applies the patch, which the compatibility check must call additive, and runs the contract tests
/// and the tests of the patch.
fn check_patch(sh: &Shell) -> Result<()> {
    quietly(cmd!(sh, "git apply {PATCH}")).with_context(|| {
        format!(
            "{PATCH} is outdated: xtask/CHANGES.md says under \"An operation\" how to update it"
        )
    })?;
    quietly(cmd!(sh, "cargo xtask generate"))?;
    let report = quietly(cmd!(sh, "cargo xtask compat"))?;
    let verdict = report.lines().next().unwrap_or_default();
    ensure!(verdict.ends_with(": additive; needs 1.1.0 or larger"), "{PATCH}:\n{report}");
    lint(sh)?;
    let tests = || cmd!(sh, "cargo test --test e2e {ALL...} -- wire::reads::");
    quietly(tests().arg("without_store::"))?;
    if postgres::programs().is_some() {
        // The new name of the service is part of this variable.
        quietly(tests().env("SEED_BANK_TESTS_STORE", "postgres"))?;
    }
    Ok(())
}

fn lint(sh: &Shell) -> Result<()> {
    let build = cmd!(sh, "cargo build --quiet --all-targets {ALL...}").ignore_status();
    let warnings = build.quiet().read_stderr()?;
    ensure!(warnings.is_empty(), "the copy does not pass the lints:\n{warnings}");
    Ok(())
}
