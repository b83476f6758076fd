//! Runs other programs, from the root of the repository, and says what it runs.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// The root of the repository.
#[must_use]
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the workspace")
}

/// Runs cargo with these words, which hold no space, and fails where it does.
pub fn cargo(words: &str, environment: &[(&str, &str)]) -> Result<()> {
    println!("cargo {words}");
    let status = Command::new(env!("CARGO"))
        .args(words.split(' '))
        .envs(environment.iter().copied())
        .current_dir(root())
        .status()
        .context("cannot start cargo")?;
    ensure!(status.success(), "`cargo {words}` failed");
    Ok(())
}
