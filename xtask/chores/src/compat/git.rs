//! What git says about the checkout. Git answers "no" with status 1. Every other failure is an
//! error, with what git says about it.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use xshell::{Cmd, Shell, cmd};

use plant_store_compat::Document;
use xtask::checkout::DOCUMENT;

/// The document of a commit; none if the commit has no such file.
pub fn document(root: &Path, commit: &str, name: &str) -> Result<Option<Document>> {
    let Some(blob) = object(root, &format!("{commit}:./{DOCUMENT}"))? else { return Ok(None) };
    let text = git(root, &["cat-file", "blob", &blob])?;
    Document::parse(name, &text.context("git has no text, and no reason")?).map(Some)
}

/// The hash of what a name stands for.
pub fn object(root: &Path, name: &str) -> Result<Option<String>> {
    git(root, &["rev-parse", "--verify", "--quiet", name])
}

/// Fails in a shallow clone: git does not know what is before its oldest commit.
pub fn ensure_not_shallow(root: &Path, missing: &str) -> Result<()> {
    let is_shallow = git(root, &["rev-parse", "--is-shallow-repository"])?;
    ensure!(
        is_shallow.as_deref() == Some("false"),
        "the history is cut off before {missing}: `git fetch --unshallow` brings it"
    );
    Ok(())
}

/// What git prints; none if it answers "no".
pub fn git(root: &Path, arguments: &[&str]) -> Result<Option<String>> {
    const INSTEAD: &str = "compare with a file: `cargo xtask compat --against FILE`";
    let sh = Shell::new()?;
    sh.change_dir(root);
    // Git sets these for a hook. They name the hook's repository, which may be another one.
    let hooks = ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"];
    let command = hooks.iter().fold(cmd!(sh, "git {arguments...}"), Cmd::env_remove);
    let command = command.ignore_status();
    let output = command.output().with_context(|| format!("install git, or {INSTEAD}"))?;
    match output.status.code() {
        Some(0) => Ok(Some(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())),
        Some(1) => Ok(None),
        _ => {
            let said = String::from_utf8_lossy(&output.stderr);
            let line = said.split_whitespace().collect::<Vec<_>>().join(" ");
            bail!("`{command}` failed: {line}; fix that, or {INSTEAD}")
        }
    }
}
