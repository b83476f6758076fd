//! How another program runs. A command is a list of arguments, never a text that is split: a path
//! may hold a space.

use anyhow::{Result, ensure};
use xshell::Cmd;

/// Runs a program to its end in silence, and returns what it prints; fails with all that it said.
pub fn quietly(command: Cmd<'_>) -> Result<String> {
    let command = command.ignore_status();
    let output = command.output()?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`{command}` failed:\n{stdout}{stderr}");
    Ok(stdout.into_owned())
}
