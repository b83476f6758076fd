//! How the chores call cargo.

use std::path::PathBuf;

use anyhow::Result;
use xshell::cmd;

use crate::checkout::{shell, target};

/// The packages and features that each call of cargo selects: everything except the servers of the
/// benchmark. Because the selection is always the same, each dependency is built once.
pub const ALL: [&str; 4] = ["--workspace", "--exclude", "plant-store-bench", "--all-features"];

/// Builds a program of the workspace, and returns where it is. Nothing else is built: [`ALL`]
/// selects features, `--bin` what is built.
pub fn build(program: &str) -> Result<PathBuf> {
    let sh = shell()?;
    cmd!(sh, "cargo build --quiet --bin {program} {ALL...}").quiet().run()?;
    Ok(target()?.join("debug").join(program))
}

/// The same for an example.
pub fn build_example(name: &str) -> Result<PathBuf> {
    let sh = shell()?;
    cmd!(sh, "cargo build --quiet --example {name} {ALL...}").quiet().run()?;
    Ok(target()?.join("debug/examples").join(name))
}
