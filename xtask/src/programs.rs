//! The chores that are programs of their own, because they need the code of the contract or of the service.

use std::env;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use xshell::cmd;

use crate::run::shell;

/// What every call of cargo selects: the whole workspace, with all of its features. So cargo gives
/// each dependency the same features each time, and builds it once.
pub const ALL: &str = "--workspace --all-features";

/// Builds a program, and runs it with these words. Nothing else is built, because after a change of
/// the contract the client and the tests may not compile before `generate` has run.
pub fn run(program: &str, words: &[&str]) -> Result<ExitCode> {
    let sh = shell()?;
    cmd!(sh, "cargo build --bin {program}").args(ALL.split(' ')).run()?;
    let program = target()?.join("debug").join(program);
    let status = Command::new(program).args(words).status().context("cannot start it")?;
    Ok(ExitCode::from(status.code().and_then(|code| code.try_into().ok()).unwrap_or(1)))
}

/// The target folder, which `CARGO_TARGET_DIR` may have put anywhere: this program is in `debug` below
/// it.
pub fn target() -> Result<PathBuf> {
    let xtask = env::current_exe().context("cannot find this program")?;
    Ok(xtask.ancestors().nth(2).context("this program is in no target folder")?.to_owned())
}
