//! The tools: installed into `target/conformance`, pinned, never globally.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use xshell::{Shell, cmd};

use crate::compat::DOCUMENT;
use xtask::run::{has, quietly, root};

/// Where the tools are, and where they run.
#[must_use]
pub fn folder() -> PathBuf {
    root().join("target/conformance")
}

/// What the machine lacks for the tools, where it lacks something.
#[must_use]
pub fn missing() -> Option<&'static str> {
    match has("python3") {
        false => Some("python3 is missing: install Python 3.11 or newer, with `venv`"),
        true => missing_npm(),
    }
}

/// What the machine lacks for the tools of Node alone.
#[must_use]
pub fn missing_npm() -> Option<&'static str> {
    (!has("npm")).then_some("npm is missing: install Node.js 20 or newer")
}

/// Fetches the tools, where they are not there yet, and lays out what they work on.
pub fn install() -> Result<()> {
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

/// The same, for the tools of Node alone.
pub fn install_node() -> Result<()> {
    lay_out()?;
    let sh = shell()?;
    once("package-lock.json", "node_modules", || quietly(cmd!(sh, "npm ci")))
}

/// A shell in [`folder`], where the tools are found first.
pub fn shell() -> Result<Shell> {
    let sh = Shell::new()?;
    sh.change_dir(folder());
    sh.set_var("PATH", path());
    Ok(sh)
}

/// A `PATH` on which the tools come first.
#[must_use]
pub fn path() -> OsString {
    let tools = ["venv/bin", "node_modules/.bin"].map(|bin| folder().join(bin));
    let machine = env::var_os("PATH").unwrap_or_default();
    env::join_paths(tools.into_iter().chain(env::split_paths(&machine)))
        .expect("no folder of a path holds its separator")
}

/// Copies the document and `tests/conformance` to where the tools run; what a client's generator
/// left there must not outlive a change of the document.
fn lay_out() -> Result<()> {
    let clients = folder().join("clients");
    if clients.exists() {
        fs::remove_dir_all(&clients).context("cannot clear the folder of the clients")?;
    }
    copy(&root().join("tests/conformance"), &folder())?;
    fs::copy(root().join(DOCUMENT), folder().join("plant-store.json"))
        .context("cannot copy the document")?;
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot make {}", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        let copied = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &copied)?;
        } else {
            fs::copy(entry.path(), &copied)
                .with_context(|| format!("cannot write {}", copied.display()))?;
        }
    }
    Ok(())
}

/// Installs what this lock file names into this folder, unless it holds just that. The copy of
/// the lock file that tells is written last: an installation that broke off is begun again.
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
