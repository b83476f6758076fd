//! Runs other programs.
//!
//! A command must be a list of arguments, never a text that is split, because a path may contain a
//! space.

use anyhow::{Result, ensure};
use xshell::Cmd;

/// Runs a command without showing its output, and returns its stdout. The error of a failed command
/// contains its whole output.
pub fn quietly(command: Cmd<'_>) -> Result<String> {
    let command = command.ignore_status();
    let output = command.output()?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`{command}` failed:\n{stdout}{stderr}");
    Ok(stdout.into_owned())
}
