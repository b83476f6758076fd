//! Runs other programs, from the root of the repository, and says what it runs.

use std::ffi::OsStr;
use std::iter;
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

/// Runs a program to its end in silence; fails with all that it said.
pub fn quietly(command: &mut Command) -> Result<()> {
    let output = command.output().with_context(|| format!("cannot start `{}`", words(command)))?;
    ensure!(
        output.status.success(),
        "`{}` failed:\n{}{}",
        words(command),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    Ok(())
}

/// A command as it is typed, without its environment, which may hold a token.
fn words(command: &Command) -> String {
    let words: Vec<_> = iter::once(command.get_program())
        .chain(command.get_args())
        .map(OsStr::to_string_lossy)
        .collect();
    words.join(" ")
}

/// Whether the machine has this program, in a version that can tell its version.
#[must_use]
pub fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}
