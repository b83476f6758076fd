//! Installs the third-party tools into `target/conformance`, with pinned versions.
//!
//! Nothing may be installed globally.

use std::env;
use std::path::PathBuf;

use anyhow::Result;
use xshell::{Shell, cmd};

use crate::checkout::{DOCUMENT, quietly, root};

/// Returns the folder in which the tools are installed and run.
#[must_use]
pub fn folder() -> PathBuf {
    root().join("target/conformance")
}

/// Copies `tests/conformance`, which contains the lock files of the tools, and the document into
/// [`folder`], and installs the tools: what npm and pip have downloaded before, they do not
/// download again. Removes the clients that were generated from an earlier document.
pub fn install() -> Result<()> {
    let sh = shell()?;
    let folder = folder();
    sh.remove_path("clients")?;
    sh.create_dir(&folder)?;
    let input = root().join("tests/conformance/.");
    quietly(cmd!(sh, "cp -R {input} {folder}"))?;
    sh.copy_file(root().join(DOCUMENT), "plant-store.json")?;
    quietly(cmd!(sh, "npm ci --prefer-offline"))?;
    quietly(cmd!(sh, "python3 -m venv venv"))?;
    // Without dependencies, so that pip installs no package that the list does not name. The check
    // then reports missing dependencies.
    quietly(cmd!(sh, "pip install --no-deps --requirement requirements.txt"))?;
    quietly(cmd!(sh, "pip check")).map(drop)
}

/// Returns a shell in [`folder`] whose `PATH` starts with the tools.
pub fn shell() -> Result<Shell> {
    let sh = Shell::new()?;
    sh.change_dir(folder());
    let tools = ["venv/bin", "node_modules/.bin"].map(|bin| folder().join(bin));
    let machine = env::var_os("PATH").unwrap_or_default();
    let path = tools.into_iter().chain(env::split_paths(&machine));
    sh.set_var("PATH", env::join_paths(path)?);
    Ok(sh)
}
