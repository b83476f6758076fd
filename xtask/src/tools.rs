//! The tools: installed into `target/conformance`, pinned, never globally.

use std::env;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

use crate::checkout::{DOCUMENT, root};
use crate::run::quietly;

/// Where the tools are, and where they run.
#[must_use]
pub fn folder() -> PathBuf {
    root().join("target/conformance")
}

/// A program that the machine must have.
pub struct Needed {
    /// Its name on the `PATH`.
    pub program: &'static str,
    /// What to say if it is missing, with what to do.
    pub missing: &'static str,
}

/// What the tools need of the machine.
pub const NEEDED: [Needed; 2] = [
    Needed {
        program: "python3",
        missing: "python3 is missing: install Python 3.11 or newer, with `venv`",
    },
    Needed { program: "npm", missing: "npm is missing: install Node.js 20 or newer" },
];

/// Copies the input of the tools, and installs them if they are not there yet.
pub fn install() -> Result<()> {
    copy_input()?;
    install_node()?;
    let sh = shell()?;
    once("requirements.txt", "venv", || {
        quietly(cmd!(sh, "python3 -m venv --clear venv"))?;
        // Without dependencies, and then checked: a package that the list does not name must not
        // come in by itself.
        quietly(cmd!(sh, "pip install --no-deps --requirement requirements.txt"))?;
        quietly(cmd!(sh, "pip check"))
    })
}

/// Copies `tests/conformance` and the document into [`folder`], with the lock files of the tools.
/// It removes the clients that were made from an earlier document.
pub fn copy_input() -> Result<()> {
    let sh = shell()?;
    let folder = folder();
    sh.remove_path("clients")?;
    sh.create_dir(&folder)?;
    let input = root().join("tests/conformance/.");
    quietly(cmd!(sh, "cp -R {input} {folder}"))?;
    sh.copy_file(root().join(DOCUMENT), "plant-store.json")?;
    Ok(())
}

/// Installs the tools of Node, if they are not there yet, after [`copy_input`].
pub fn install_node() -> Result<()> {
    let sh = shell()?;
    once("package-lock.json", "node_modules", || quietly(cmd!(sh, "npm ci")))
}

/// A shell in [`folder`], with a `PATH` on which the tools come first.
pub fn shell() -> Result<Shell> {
    let sh = Shell::new()?;
    sh.change_dir(folder());
    let tools = ["venv/bin", "node_modules/.bin"].map(|bin| folder().join(bin));
    let machine = env::var_os("PATH").unwrap_or_default();
    let path = tools.into_iter().chain(env::split_paths(&machine));
    sh.set_var("PATH", env::join_paths(path)?);
    Ok(sh)
}

/// Installs what this lock file names into this folder, unless it is installed already. A copy of
/// the lock file in the folder says so. It is written last, so an installation that was interrupted
/// begins again.
fn once(lock: &str, into: &str, install: impl FnOnce() -> Result<String>) -> Result<()> {
    let wanted = fs::read(folder().join(lock)).with_context(|| format!("cannot read {lock}"))?;
    let stamp = folder().join(into).join(lock);
    if fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    println!("installing what {lock} names");
    install()?;
    fs::write(&stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))
}
