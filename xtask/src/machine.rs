//! What a check needs of the machine: it is there, or the check is skipped with a line.

use std::env;

use anyhow::{Result, ensure};

/// Whether the checks run in CI, which must test everything.
#[must_use]
pub fn in_ci() -> bool {
    env::var_os("CI").is_some_and(|ci| !ci.is_empty())
}

/// Passes on what was found. If there is nothing, this says that its checks are skipped; in CI that
/// is an error.
pub fn need<T>(name: &str, found: Option<T>, to_install: &str) -> Result<Option<T>> {
    let missing = format!("there is no {name}: {to_install}");
    ensure!(found.is_some() || !in_ci(), "{missing}; in CI nothing is skipped");
    if found.is_none() {
        println!("skipped, because {missing}");
    }
    Ok(found)
}

/// Says that a check is skipped that not even CI can always run. GitHub shows the line as a warning.
pub fn skipped(check: &str, why: &str) {
    let warning = env::var("GITHUB_ACTIONS").map_or("", |_| "::warning::");
    println!("{warning}{check}: skipped, because {why}");
}
