//! What the machine has, and what a check does if the machine lacks a program.

use std::env;

use anyhow::{Result, ensure};
use xshell::{Shell, cmd};

use crate::run::quietly;

/// Whether the machine has this program, and it can print its version.
#[must_use]
pub fn has(program: &str) -> bool {
    Shell::new().is_ok_and(|sh| quietly(cmd!(sh, "{program} --version")).is_ok())
}

/// Whether the checks run in CI, which must test everything.
#[must_use]
pub fn in_ci() -> bool {
    env::var_os("CI").is_some_and(|ci| !ci.is_empty())
}

/// Returns whether a program was found. If not, this prints that its checks are skipped, and what
/// to install; in CI that is an error.
pub fn found_or_skipped(name: &str, is_found: bool, to_install: &str) -> Result<bool> {
    let missing = format!("there is no {name}: {to_install}");
    ensure!(is_found || !in_ci(), "{missing}; in CI nothing is skipped");
    if !is_found {
        println!("skipped, because {missing}");
    }
    Ok(is_found)
}

/// Says that a check is skipped that not even CI can always run. GitHub shows the line as a
/// warning.
pub fn skipped(check: &str, why: &str) {
    let warning = env::var("GITHUB_ACTIONS").map_or("", |_| "::warning::");
    println!("{warning}{check}: skipped, because {why}");
}
