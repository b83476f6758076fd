//! Puts faults into a copy of the repository, one at a time, and runs the tests that should find
//! them. A test that no fault can fail protects nothing.
//!
//! Each fault is a patch in `tests/faults`. Above the patch it says what is wrong, and `Found by:`
//! the names of the tests, which must succeed without a fault. Nothing here changes the checkout.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use xshell::{Shell, cmd};

use crate::checkout::{linting_shell, quietly, root, shell, target};

/// The folder of the patches, relative to the root.
const FOLDER: &str = "tests/faults";

/// The faults to look for.
#[derive(Args)]
pub struct Faults {
    /// Look only for these faults
    names: Vec<String>,
}

/// A patch, and what it says about itself.
struct Fault {
    name: String,
    patch: PathBuf,
    what: String,
    /// The tests whose names contain one of these should find the fault.
    tests: Vec<String>,
}

/// Looks for the faults, and prints a table.
pub fn run(args: &Faults) -> Result<()> {
    let mut faults = read()?;
    for name in &args.names {
        ensure!(faults.iter().any(|fault| fault.name == *name), "there is no fault {name}");
    }
    faults.retain(|fault| args.names.is_empty() || args.names.contains(&fault.name));
    let sh = shell()?;
    let copy = target()?.join("faults");
    copy_checkout(&sh, &copy)?;
    let tests = build_tests()?;
    let all: Vec<_> = faults.iter().flat_map(|fault| &fault.tests).collect();
    if let Some(test) = run_tests(&copy, &tests, &all)? {
        bail!("{test} fails without a fault");
    }
    let mut missed = Vec::new();
    println!("| fault | what is wrong | found by |\n| --- | --- | --- |");
    for fault in &faults {
        let Fault { name, what, .. } = fault;
        let found = look_for(&sh, &copy, &tests, fault);
        let found = found.with_context(|| format!("cannot look for {name}"))?;
        if let Some(test) = found {
            println!("| `{name}` | {what} | `{test}` |");
        } else {
            println!("| `{name}` | {what} | **nothing** |");
            missed.push(name.as_str());
        }
    }
    ensure!(missed.is_empty(), "no test has found: {}", missed.join(", "));
    Ok(())
}

/// Fails unless each patch applies to the checkout.
pub fn check() -> Result<()> {
    read().map(drop)
}

/// Reads the faults, each of which must apply to the checkout.
fn read() -> Result<Vec<Fault>> {
    let sh = shell()?;
    let mut faults = Vec::new();
    for patch in sh.read_dir(FOLDER)? {
        let fault = parse(patch)?;
        let Fault { name, patch, .. } = &fault;
        quietly(cmd!(sh, "git apply --check {patch}")).with_context(|| {
            format!("the fault {name} does not apply any more: move {FOLDER}/{name}.patch along")
        })?;
        faults.push(fault);
    }
    Ok(faults)
}

fn parse(patch: PathBuf) -> Result<Fault> {
    let text = fs::read_to_string(&patch)?;
    let name = patch.file_stem().context("a patch has a name")?.to_string_lossy().into_owned();
    let (head, _) = text.split_once("\n--- ").with_context(|| format!("{name} changes nothing"))?;
    let head = head.split_whitespace().collect::<Vec<_>>().join(" ");
    let (what, tests) = head
        .split_once(" Found by: ")
        .with_context(|| format!("{name} does not say which test finds it"))?;
    let tests = tests.split(' ').map(str::to_owned).collect();
    Ok(Fault { what: what.to_owned(), name, patch, tests })
}

/// Makes a copy of the checkout with a target folder of its own, which has hard links to the
/// dependencies that are already built.
fn copy_checkout(sh: &Shell, copy: &Path) -> Result<()> {
    sh.remove_path(copy)?;
    let debug = copy.join("target/debug");
    sh.create_dir(&debug)?;
    let files = cmd!(sh, "git ls-files --cached --others --exclude-standard").read()?;
    let files: Vec<_> = files.lines().filter(|file| root().join(file).exists()).collect();
    quietly(cmd!(sh, "cp --parents --no-dereference {files...} {copy}"))?;
    // A repository of its own, because `git apply` skips files outside the repository.
    quietly(cmd!(sh, "git init --quiet {copy}"))?;
    for folder in ["build", "deps", ".fingerprint"] {
        let from = target()?.join("debug").join(folder);
        quietly(cmd!(sh, "cp --archive --link {from} {debug}"))?;
    }
    let _in_the_copy = sh.push_dir(copy);
    quietly(cmd!(sh, "cargo clean --workspace --target-dir target"))?;
    Ok(())
}

/// Builds the end-to-end tests of the checkout, and returns their program.
fn build_tests() -> Result<PathBuf> {
    let sh = linting_shell()?;
    let format = ["--message-format", "json-render-diagnostics"];
    let messages = cmd!(sh, "cargo test --quiet --no-run --test e2e {format...}").read()?;
    let mut messages = messages.lines().filter_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        let is_tests = message["target"]["name"] == "e2e";
        is_tests.then(|| message["executable"].as_str().map(PathBuf::from))?
    });
    messages.next_back().context("cargo did not print the path of the tests")
}

/// Applies the fault to the copy, runs its tests, and takes the fault back.
fn look_for(
    sh: &Shell,
    copy: &Path,
    tests: &Path,
    Fault { patch, tests: names, .. }: &Fault,
) -> Result<Option<String>> {
    let _in_the_copy = sh.push_dir(copy);
    quietly(cmd!(sh, "git apply {patch}"))?;
    let found = run_tests(copy, tests, names);
    quietly(cmd!(sh, "git apply --reverse {patch}"))?;
    found
}

/// Builds the server of the copy, runs tests with it, and returns the first one that fails.
fn run_tests(copy: &Path, tests: &Path, names: &[impl AsRef<OsStr>]) -> Result<Option<String>> {
    let sh = Shell::new()?;
    sh.change_dir(copy);
    sh.set_var("CARGO_TARGET_DIR", copy.join("target"));
    quietly(cmd!(sh, "cargo build --bin plant-store"))?;
    // The tests build the server of the package that cargo runs.
    sh.change_dir("tests");
    sh.set_var("CARGO_MANIFEST_DIR", sh.current_dir());
    let printed = cmd!(sh, "{tests} {names...}").quiet().ignore_status().ignore_stderr().read()?;
    let results =
        printed.lines().filter_map(|line| line.strip_prefix("test ")?.split_once(" ... "));
    let results: Vec<_> = results.collect();
    ensure!(!results.is_empty(), "no test has such a name");
    let failed = results.iter().find(|(_, result)| *result == "FAILED");
    Ok(failed.map(|(test, _)| (*test).to_owned()))
}
