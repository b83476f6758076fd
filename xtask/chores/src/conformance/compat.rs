//! The compatibility check of a consumer, in a repository that has nothing to do with this one: the
//! action of `.github/actions/compat`, run as GitHub runs it, and the installed command.

use anyhow::{Context, Result, ensure};
use plant_store_launcher::build;
use serde_json::{Value, json};
use tempfile::TempDir;
use xshell::{Shell, cmd};

use crate::compat::DOCUMENT;
use crate::tools::{folder, shell};
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
    action(&sh)?;
    command(&sh)
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
        (&["pinned=no-document.json"], 2, "no-document.json"),
        // The document of an earlier step must not be compared instead.
        (&["pinned=contract.json", "published=file:///nowhere.json"], 2, ""),
    ] {
        let script = folder().join("action.py");
        let action = root().join(".github/actions/compat");
        let summary = sh.current_dir().join("summary");
        sh.write_file(&summary, "")?;
        let output = cmd!(sh, "python {script} {action} {inputs...}")
            .env("GITHUB_STEP_SUMMARY", &summary)
            .env("RUNNER_TEMP", sh.current_dir())
            .env_remove("RUSTUP_TOOLCHAIN")
            .ignore_status()
            .output()?;
        let stdout = String::from_utf8_lossy(&output.stdout);
        ensure!(
            output.status.code() == Some(status) && stdout.contains(said),
            "the action with {inputs:?} ended with {} instead of {status} and {said:?}:\n{stdout}{}",
            output.status,
            String::from_utf8_lossy(&output.stderr),
        );
        let expected =
            if stdout.is_empty() { String::new() } else { format!("```text\n{stdout}```\n") };
        ensure!(
            sh.read_file(&summary)? == expected,
            "the summary of the job is not what the action printed"
        );
    }
    println!("the action: as documented");
    Ok(())
}

/// The document that the service prints is the one that the installed command has in it.
fn command(sh: &Shell) -> Result<()> {
    let (source, target) = (root().join("xtask/compat"), root().join("target"));
    quietly(cmd!(
        sh,
        "cargo install --quiet --locked --debug --path {source} --root tools --target-dir {target}"
    ))?;
    let service = build("plant-store", false)?;
    let served = quietly(cmd!(sh, "{service} openapi"))?;
    let said = quietly(cmd!(sh, "tools/bin/plant-store-compat -").stdin(served))?;
    ensure!(said.ends_with("nothing changed\n"), "the installed command says:\n{said}");
    println!("the installed command: as documented");
    Ok(())
}
