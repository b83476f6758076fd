//! Detects which programs are installed, and skips the checks whose programs are missing.
//!
//! In CI a missing program must be an error.

use std::env;

use anyhow::{Result, ensure};
use xshell::{Shell, cmd};

use crate::run::quietly;

/// Returns whether this program is installed, and can print its version.
#[must_use]
pub fn has(program: &str) -> bool {
    Shell::new().is_ok_and(|sh| quietly(cmd!(sh, "{program} --version")).is_ok())
}

/// Returns whether the chore runs in CI, where nothing may be skipped.
#[must_use]
pub fn in_ci() -> bool {
    env::var_os("CI").is_some_and(|ci| !ci.is_empty())
}

/// Returns whether a program was found. If not, prints that its checks are skipped, and what to
/// install. In CI a missing program is an error.
pub fn found_or_skipped(name: &str, is_found: bool, to_install: &str) -> Result<bool> {
    let missing = format!("{name} is missing: {to_install}");
    ensure!(is_found || !in_ci(), "{missing}; in CI no check may be skipped");
    if !is_found {
        println!("skipped, because {missing}");
    }
    Ok(is_found)
}

/// Prints that a check is skipped which cannot always run, not even in CI. GitHub shows the line as
/// a warning.
pub fn skipped(check: &str, why: &str) {
    let warning = env::var("GITHUB_ACTIONS").map_or("", |_| "::warning::");
    println!("{warning}{check}: skipped, because {why}");
}
