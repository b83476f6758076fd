//! The check of `tests/second-operation.patch`, which adds `GET /plants/{id}` to the contract: the
//! example for whoever adds an operation.
//!
//! Nothing here changes the checkout: the patch is applied to a copy.

use anyhow::{Context, Result, ensure};
use xshell::cmd;

use crate::cargo::{ALL, link_dependencies};
use crate::checkout::{DOCUMENT, root, shell};
use crate::postgres;
use crate::run::quietly;

/// The patch, relative to the root of the repository.
pub const PATCH: &str = "tests/second-operation.patch";

/// What the compatibility check says about the patch.
const VERDICT: &str = ": additive; needs 1.1.0 or larger";

/// Copies what git tracks, applies the patch, and runs the contract tests and the patch's own tests.
pub fn run() -> Result<()> {
    let sh = shell()?;
    let copy = sh.create_temp_dir()?;
    let folder = copy.path();
    let tracked = quietly(cmd!(sh, "git ls-files -z"))?;
    let tracked = tracked.split_terminator('\0');
    quietly(cmd!(sh, "cp --parents --no-dereference {tracked...} {folder}"))?;
    let target = link_dependencies("second-operation")?;
    sh.set_var("CARGO_TARGET_DIR", &target);
    sh.change_dir(folder);

    quietly(cmd!(sh, "git apply {PATCH}")).with_context(|| {
        format!("{PATCH} does not apply: mend it as xtask/CHANGES.md says under \"An operation\"")
    })?;
    quietly(cmd!(sh, "cargo xtask generate"))?;
    let before = root().join(DOCUMENT);
    let judged = quietly(cmd!(sh, "cargo xtask compat --against {before}"))?;
    let verdict = judged.lines().next().unwrap_or_default();
    ensure!(verdict.ends_with(VERDICT), "expected `{VERDICT}` of the patch:\n{judged}");

    let build = cmd!(sh, "cargo build --quiet --test e2e --bins {ALL...}").ignore_status();
    let warnings = build.quiet().read_stderr()?;
    ensure!(warnings.is_empty(), "the patch does not pass the lints:\n{warnings}");
    let e2e = || cmd!(sh, "cargo test --quiet --test e2e {ALL...} -- wire::reads::");
    quietly(e2e().arg("without_store::"))?;
    if postgres::programs().is_some() {
        quietly(e2e().env("PLANT_STORE_TESTS_STORE", "postgres"))?;
    }
    sh.remove_path(&target)?;
    Ok(())
}
