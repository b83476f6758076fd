//! The checkout that a chore works on, and the commands that a chore runs there.
//!
//! A path must be an argument of its own, never part of a text that is split, because it may
//! contain a space.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use xshell::{Cmd, Shell, cmd};

/// The path of the published document, relative to the root.
pub const DOCUMENT: &str = "openapi/plant-store.json";

/// Returns the root of the checkout that a chore works on: the folder of the package that cargo
/// runs is in it. A root that is compiled in could belong to another checkout, if two checkouts
/// share a target folder.
///
/// # Panics
///
/// Panics if this program was not started by cargo.
#[must_use]
pub fn root() -> PathBuf {
    let package = env::var("CARGO_MANIFEST_DIR").expect("chores are started by `cargo xtask`");
    Path::new(&package).parent().expect("a package is in a checkout").to_owned()
}

/// Returns a shell whose commands run in the root of the checkout.
pub fn shell() -> Result<Shell> {
    let sh = Shell::new()?;
    sh.change_dir(root());
    Ok(sh)
}

/// Returns a shell like [`shell`], in which cargo compiles our own packages with Clippy's driver.
/// So the debug builds of the chores are linted without checking the dependencies a second time.
/// Builds for users must not depend on Clippy.
pub fn linting_shell() -> Result<Shell> {
    let sh = shell()?;
    sh.set_var("RUSTC_WORKSPACE_WRAPPER", "clippy-driver");
    Ok(sh)
}

/// Returns the target folder, which may be anywhere because of `CARGO_TARGET_DIR`. This program or
/// test is in its subfolder `debug`.
pub fn target() -> Result<PathBuf> {
    let xtask = env::current_exe().context("cannot find this program")?;
    let debug = xtask.ancestors().find(|folder| folder.ends_with("debug"));
    let target = debug.and_then(Path::parent).context("this program is not in a target folder")?;
    Ok(target.to_owned())
}

/// Builds a program or an example of the workspace, given `--bin` or `--example`, and returns its
/// path.
pub fn build(kind: &str, name: &str) -> Result<PathBuf> {
    let sh = linting_shell()?;
    cmd!(sh, "cargo build --quiet {kind} {name}").quiet().run()?;
    let folder = if kind == "--example" { "debug/examples" } else { "debug" };
    Ok(target()?.join(folder).join(name))
}

/// Runs a command without showing its output, and returns its stdout. The error of a failed command
/// contains its whole output.
pub fn quietly(command: Cmd<'_>) -> Result<String> {
    let command = command.ignore_status();
    let output = command.output()?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`{command}` failed:\n{stdout}{stderr}");
    Ok(stdout.into_owned())
}
