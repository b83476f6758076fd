//! Where the chores work, and how they run other programs.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Result, ensure};
use xshell::{Cmd, Shell, cmd};

/// The published document, relative to the root of the repository.
pub const DOCUMENT: &str = "openapi/plant-store.json";

/// The root of the checkout that a chore works in.
///
/// # Panics
///
/// Outside of a checkout. `main` calls [`find_root`] first, which returns an error then.
#[must_use]
pub fn root() -> &'static Path {
    find_root().expect("a chore runs in a checkout")
}

/// Looks for the root when the chore runs: from the package that cargo runs, else from the
/// current folder. A root that is compiled in could be that of another checkout, if two checkouts
/// share a target folder.
pub fn find_root() -> Result<&'static Path> {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    if let Some(root) = ROOT.get() {
        return Ok(root);
    }
    let sh = Shell::new()?;
    if let Some(package) = env::var_os("CARGO_MANIFEST_DIR") {
        sh.change_dir(package);
    }
    let manifest = quietly(cmd!(sh, "cargo locate-project --workspace --message-format plain"))
        .context("cannot find the root of the repository")?;
    let root = Path::new(manifest.trim_end()).parent().context("cargo names no manifest")?;
    Ok(ROOT.get_or_init(|| root.to_owned()))
}

/// A shell whose commands run in the root of the checkout.
pub fn shell() -> Result<Shell> {
    let sh = Shell::new()?;
    sh.change_dir(root());
    Ok(sh)
}

/// Runs a program to its end in silence, and returns what it prints; fails with all that it said.
pub fn quietly(command: Cmd<'_>) -> Result<String> {
    let command = command.ignore_status();
    let output = command.output()?;
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    ensure!(output.status.success(), "`{command}` failed:\n{stdout}{stderr}");
    Ok(stdout)
}

/// Whether the machine has this program, and it can print its version.
#[must_use]
pub fn has(program: &str) -> bool {
    Shell::new().is_ok_and(|sh| quietly(cmd!(sh, "{program} --version")).is_ok())
}
