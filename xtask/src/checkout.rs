//! The checkout that a chore works in: its root, its target folder, the published document.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

use crate::run::quietly;

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
    if let Some(found) = ROOT.get() {
        return Ok(found);
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

/// The target folder, which `CARGO_TARGET_DIR` may have put anywhere: this program is in `debug`
/// below it.
pub fn target() -> Result<PathBuf> {
    let xtask = env::current_exe().context("cannot find this program")?;
    Ok(xtask.ancestors().nth(2).context("this program is in no target folder")?.to_owned())
}
