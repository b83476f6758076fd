//! How the chores call cargo.

use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use xshell::cmd;

use crate::checkout::{shell, target};

/// What every call of cargo selects: the whole workspace, with all of its features. So cargo gives
/// each dependency the same features each time, and builds it once.
pub const ALL: [&str; 2] = ["--workspace", "--all-features"];

/// Builds a program, and runs it with these words. Nothing else is built ([`ALL`] selects features,
/// `--bin` what is built), because after a change of the contract the client and the tests may not
/// compile before `generate` has run.
pub fn run_built(program: &str, words: &[&str]) -> Result<ExitCode> {
    let sh = shell()?;
    cmd!(sh, "cargo build --bin {program} {ALL...}").run()?;
    let path = target()?.join("debug").join(program);
    let status = Command::new(path).args(words).status().context("cannot start it")?;
    // A signal leaves no code.
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
}
