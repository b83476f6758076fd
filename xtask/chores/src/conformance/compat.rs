//! The compatibility check of a consumer, in a repository that has nothing to do with this one: the
//! action of `.github/actions/compat`, run as GitHub runs it, and the installed command.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;
use xshell::{Shell, cmd};

use crate::compat::DOCUMENT;
use crate::tools::{folder, shell};
use xtask::programs::build;
use xtask::run::{quietly, root};

/// The consumer's copy of the document.
const PINNED: &str = "contract.json";

/// The same document with one more member.
const WITH_MADE_UP: &str = "with-made-up.json";

const MADE_UP: &str = "#/components/schemas/Plant/properties/made_up";

pub fn run() -> Result<()> {
    let consumer = TempDir::new().context("cannot make a temporary folder")?;
    let sh = shell()?;
    sh.change_dir(consumer.path());
    quietly(cmd!(sh, "git init --quiet"))?;
    lay_out(&sh)?;
    // Before there is a release, the action builds the program.
    action(&sh)?;
    command(&sh)?;
    released(&sh)
}

fn lay_out(sh: &Shell) -> Result<()> {
    sh.copy_file(root().join(DOCUMENT), PINNED)?;
    sh.write_file("no-document.json", "{}")?;
    // The consumer's own toolchain, which the action must not use.
    sh.write_file("rust-toolchain.toml", "[toolchain]\nchannel = \"1.0.0\"\n")?;
    let mut document: Value = serde_json::from_str(&sh.read_file(PINNED)?)?;
    document["components"]["schemas"]["Plant"]["properties"]["made_up"] = json!({"type": "string"});
    sh.write_file(WITH_MADE_UP, document.to_string())?;
    Ok(())
}

fn action(sh: &Shell) -> Result<()> {
    let with_made_up =
        format!("published=file://{}", sh.current_dir().join(WITH_MADE_UP).display());
    let added = format!("additive    {MADE_UP}  added");
    let removed = format!("breaking    {MADE_UP}  removed");
    for (inputs, status, said) in [
        (&["pinned=contract.json"][..], 0, "nothing changed"),
        (&["pinned=contract.json", &with_made_up], 0, &added),
        (&["pinned=with-made-up.json"], 1, &removed),
        (&["pinned=with-made-up.json"], 1, "\n::error file=with-made-up.json,line="),
        (&["pinned=no-document.json"], 2, "no-document.json"),
        // A path is no option, neither of the program nor of `echo`.
        (&["pinned=-h"], 2, "cannot read -h"),
        (&["pinned=-n"], 2, "cannot read -n"),
        // The document of an earlier step must not be compared instead.
        (&["pinned=contract.json", "published=file:///nowhere.json"], 2, ""),
    ] {
        let stdout = run_action(sh, inputs, status, said)?;
        let lines = stdout.split_inclusive('\n').filter(|line| !line.starts_with("::error"));
        let lines: String = lines.collect();
        let expected =
            if stdout.is_empty() { String::new() } else { format!("```text\n{lines}```\n") };
        ensure!(
            sh.read_file("summary")? == expected,
            "the summary of the job is not what the action printed"
        );
    }
    println!("the action: as documented");
    Ok(())
}

/// Runs the action, and returns what it prints. `releases` in the current folder has its releases.
fn run_action(sh: &Shell, inputs: &[&str], status: i32, said: &str) -> Result<String> {
    let script = folder().join("action.py");
    let action = root().join(".github/actions/compat");
    let summary = sh.current_dir().join("summary");
    sh.write_file(&summary, "")?;
    let output = cmd!(sh, "python {script} {action} {inputs...}")
        .env("GITHUB_STEP_SUMMARY", &summary)
        .env("GITHUB_SERVER_URL", format!("file://{}", sh.current_dir().display()))
        .env("GITHUB_ACTION_REPOSITORY", ".")
        .env("GITHUB_ACTION_REF", "v1.0.0")
        .env("RUNNER_TEMP", sh.current_dir())
        .env_remove("RUSTUP_TOOLCHAIN")
        .ignore_status()
        .output()?;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(
        output.status.code() == Some(status) && stdout.contains(said),
        "the action with {inputs:?} ended with {} instead of {status} and {said:?}:\n{stdout}{}",
        output.status,
        String::from_utf8_lossy(&output.stderr),
    );
    Ok(stdout)
}

/// If there is a release, its program runs and none is built. A damaged one never runs.
fn released(sh: &Shell) -> Result<()> {
    let name = format!("plant-store-1.0.0-{}-unknown-linux-musl", std::env::consts::ARCH);
    let archive = format!("{name}.tar.gz");
    sh.create_dir(&name)?;
    sh.write_file(format!("{name}/plant-store-compat"), "#!/bin/sh\necho released \"$@\"\n")?;
    quietly(cmd!(sh, "chmod +x {name}/plant-store-compat"))?;
    let download = sh.create_dir("releases/download/v1.0.0")?;
    quietly(cmd!(sh, "tar --create --gzip --file {download}/{archive} {name}"))?;
    {
        let _into = sh.push_dir(&download);
        let sum = quietly(cmd!(sh, "sha256sum {archive}"))?;
        sh.write_file(format!("{archive}.sha256"), sum)?;
    }
    let said =
        run_action(sh, &["pinned=contract.json"], 0, "released --github -- contract.json\n")?;
    ensure!(said.lines().count() == 1, "the action says more than the released program:\n{said}");
    let damaged = sh.read_binary_file(download.join(&archive))?;
    sh.write_file(download.join(&archive), &damaged[..damaged.len() - 1])?;
    run_action(sh, &["pinned=contract.json"], 2, "is damaged: its SHA-256 is another one")?;
    println!("the action with a release: as documented");
    Ok(())
}

/// The document that the service prints is the one that the installed command has in it.
fn command(sh: &Shell) -> Result<()> {
    let (source, target) = (root().join("xtask/compat"), root().join("target"));
    quietly(cmd!(
        sh,
        "cargo install --quiet --locked --debug --path {source} --root tools --target-dir {target}"
    ))?;
    let service = build("--bin", "plant-store")?;
    let served = quietly(cmd!(sh, "{service} openapi"))?;
    let said = quietly(cmd!(sh, "tools/bin/plant-store-compat -").stdin(served))?;
    ensure!(said.ends_with("nothing changed\n"), "the installed command says:\n{said}");
    println!("the installed command: as documented");
    Ok(())
}
