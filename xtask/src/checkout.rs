//! The checkout that a chore works on: its root, its target folder and the published document.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

use crate::run::quietly;

/// The path of the published document, relative to the root.
pub const DOCUMENT: &str = "openapi/plant-store.json";

/// Returns the root of the checkout that a chore works on.
///
/// # Panics
///
/// Panics outside a checkout. `main` calls [`find_root`] first, which returns an error instead.
#[must_use]
pub fn root() -> &'static Path {
    find_root().expect("chores run in a checkout")
}

/// Finds the root at run time, starting at the package that cargo runs, or else at the current
/// folder. A root that is compiled in could belong to another checkout, if two checkouts share a
/// target folder.
pub fn find_root() -> Result<&'static Path> {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    if let Some(found) = ROOT.get() {
        return Ok(found);
    }
    let sh = Shell::new()?;
    if let Some(package) = env::var_os("CARGO_MANIFEST_DIR") {
        sh.change_dir(package);
    }
    let manifest = quietly(cmd!(sh, "cargo locate-project --workspace --message-format plain"))
        .context("cannot find the root of the repository")?;
    let root = Path::new(manifest.trim_end())
        .parent()
        .context("cargo did not print the path of a manifest")?;
    Ok(ROOT.get_or_init(|| root.to_owned()))
}

/// Returns a shell whose commands run in the root of the checkout.
pub fn shell() -> Result<Shell> {
    let sh = Shell::new()?;
    sh.change_dir(root());
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
