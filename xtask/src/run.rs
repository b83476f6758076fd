//! Where the chores work, how they run other programs, and what a check does if the machine lacks
//! one. A command is a list of arguments, never a text that is split: a path may hold a space.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::OnceLock;

use anyhow::{Context, Result, ensure};
use xshell::{Cmd, Shell, cmd};

/// The published document, relative to the root of the repository.
pub const DOCUMENT: &str = "openapi/plant-store.json";

/// The root of the checkout that a chore works in.
///
/// # Panics
///
/// Outside of a checkout. `main` calls [`find_root`] first, which returns an error then.
#[must_use]
pub fn root() -> &'static Path {
    find_root().expect("a chore runs in a checkout")
}

/// Looks for the root when the chore runs: from the package that cargo runs, else from the
/// current folder. A root that is compiled in could be that of another checkout, if two checkouts
/// share a target folder.
pub fn find_root() -> Result<&'static Path> {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    if let Some(found) = ROOT.get() {
        return Ok(found);
    }
    let sh = Shell::new()?;
    if let Some(package) = env::var_os("CARGO_MANIFEST_DIR") {
        sh.change_dir(package);
    }
    let manifest = quietly(cmd!(sh, "cargo locate-project --workspace --message-format plain"))
        .context("cannot find the root of the repository")?;
    let root = Path::new(manifest.trim_end()).parent().context("cargo names no manifest")?;
    Ok(ROOT.get_or_init(|| root.to_owned()))
}

/// A shell whose commands run in the root of the checkout.
pub fn shell() -> Result<Shell> {
    let sh = Shell::new()?;
    sh.change_dir(root());
    Ok(sh)
}

/// Runs a program to its end in silence, and returns what it prints; fails with all that it said.
pub fn quietly(command: Cmd<'_>) -> Result<String> {
    let command = command.ignore_status();
    let output = command.output()?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`{command}` failed:\n{stdout}{stderr}");
    Ok(stdout.into_owned())
}

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

/// Says that a check is skipped that not even CI can always run. GitHub shows the line as a
/// warning.
pub fn skipped(check: &str, why: &str) {
    let warning = env::var("GITHUB_ACTIONS").map_or("", |_| "::warning::");
    println!("{warning}{check}: skipped, because {why}");
}

/// What every call of cargo selects: the whole workspace, with all of its features. So cargo gives
/// each dependency the same features each time, and builds it once.
pub const ALL: [&str; 2] = ["--workspace", "--all-features"];

/// Builds a program, and runs it with these words. Nothing else is built, because after a change of
/// the contract the client and the tests may not compile before `generate` has run.
pub fn run_built(program: &str, words: &[&str]) -> Result<ExitCode> {
    let sh = shell()?;
    cmd!(sh, "cargo build --bin {program} {ALL...}").run()?;
    let path = target()?.join("debug").join(program);
    let status = Command::new(path).args(words).status().context("cannot start it")?;
    // A signal leaves no code.
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
}

/// The target folder, which `CARGO_TARGET_DIR` may have put anywhere: this program is in `debug`
/// below it.
pub fn target() -> Result<PathBuf> {
    let xtask = env::current_exe().context("cannot find this program")?;
    Ok(xtask.ancestors().nth(2).context("this program is in no target folder")?.to_owned())
}
