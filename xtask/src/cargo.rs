//! Calls cargo with the same selection of packages and features in each chore.

use std::path::PathBuf;

use anyhow::Result;
use xshell::cmd;

use crate::checkout::{shell, target};

/// The packages and features that the chores select: everything except the servers of the
/// benchmark. Because the selection is always the same, each dependency is built only once.
pub const ALL: [&str; 4] = ["--workspace", "--exclude", "plant-store-bench", "--all-features"];

/// Builds a program or an example of the workspace, given `--bin` or `--example`, and returns its
/// path. [`ALL`] only selects the features here: cargo builds no other program.
pub fn build(kind: &str, name: &str) -> Result<PathBuf> {
    let sh = shell()?;
    cmd!(sh, "cargo build --quiet {kind} {name} {ALL...}").quiet().run()?;
    let folder = if kind == "--example" { "debug/examples" } else { "debug" };
    Ok(target()?.join(folder).join(name))
}
