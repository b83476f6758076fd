//! Finds the base: the older document with which the compatibility check compares the present one.
//!
//! The base is the document of the last release from which `HEAD` descends. Before the first
//! release, it is the document of the merge base with `origin/main`. If that document equals the
//! present one, the base is the most recent document that differs, going back along first parents.
//!
//! git answers "no" with exit code 1. Any other failure must be an error: it must not look like a
//! history without an older document.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use openapi_compat::Document;
use semver::Version;
use xshell::{Cmd, Shell, cmd};

use crate::checkout::DOCUMENT;

const INSTEAD: &str = "compare with a file: `cargo xtask compat --against FILE`";

/// Returns the base of the present document, or `None` if no commit has an older document.
pub fn base(root: &Path, present: &Document) -> Result<Option<Document>> {
    if object(root, "HEAD")?.is_none() {
        let others = git(root, &["rev-list", "--all", "--max-count=1"])?.unwrap_or_default();
        ensure!(
            others.is_empty(),
            "the current branch has no commit, but other branches have: {INSTEAD}"
        );
        return Ok(None);
    }
    for tag in releases(root)? {
        // Compared with itself, the commit of a release would always pass.
        match at(root, &tag, &format!("the release {tag}"))? {
            Some(older) if older.equals(present) && is_head(root, &tag)? => {}
            Some(older) => return Ok(Some(older)),
            // The release is older than the first document.
            None => {}
        }
    }
    let is_shallow = git(root, &["rev-parse", "--is-shallow-repository"])?;
    ensure!(
        is_shallow.as_deref() != Some("true"),
        "the history is shallow and may lack the last release: run `git fetch --unshallow`"
    );
    let merge_base = match object(root, "refs/remotes/origin/main")? {
        Some(main) => git(root, &["merge-base", "HEAD", &main])?,
        None => None,
    };
    let start = merge_base.as_deref().unwrap_or("HEAD");
    let listed =
        git(root, &["rev-list", "--first-parent", "--ignore-missing", start, "--", DOCUMENT])?;
    for commit in listed.iter().flat_map(|commits| commits.lines()) {
        match at(root, commit, "the last commit with a different document")? {
            Some(older) if !older.equals(present) => return Ok(Some(older)),
            _ => {}
        }
    }
    Ok(None)
}

/// Returns the tags of the releases from which `HEAD` descends, the largest version first.
/// Pre-releases do not count, because they promise nothing (Semantic Versioning 2.0.0, section 9).
fn releases(root: &Path) -> Result<Vec<String>> {
    let listed = git(root, &["tag", "--list", "v*", "--merged", "HEAD"])?.unwrap_or_default();
    let versions = listed.lines().filter_map(|tag| tag.strip_prefix('v')?.parse().ok());
    let mut versions: Vec<Version> =
        versions.filter(|version: &Version| version.pre.is_empty()).collect();
    versions.sort();
    Ok(versions.iter().rev().map(|version| format!("v{version}")).collect())
}

/// Returns the document of the file or revision that the user named.
pub fn named(root: &Path, against: &str) -> Result<Document> {
    if Path::new(against).is_file() {
        let text = fs::read_to_string(against).with_context(|| format!("cannot read {against}"))?;
        return Document::parse(&format!("the file {against}"), &text);
    }
    let older = if against.is_empty() { None } else { at(root, against, against)? };
    older.with_context(|| {
        format!("--against: `{against}` is neither a file nor a revision that contains {DOCUMENT}")
    })
}

/// Returns the document of a revision, or `None` if the revision does not contain the file.
fn at(root: &Path, revision: &str, name: &str) -> Result<Option<Document>> {
    let Some(blob) = object(root, &format!("{revision}:./{DOCUMENT}"))? else { return Ok(None) };
    let commit = object(root, &format!("{revision}^{{commit}}"))?.unwrap_or_default();
    let text = git(root, &["cat-file", "blob", &blob])?.unwrap_or_default();
    let short = commit.get(..7).unwrap_or_default();
    Document::parse(&format!("{name} ({short})"), &text).map(Some)
}

fn is_head(root: &Path, tag: &str) -> Result<bool> {
    Ok(object(root, &format!("{tag}^{{commit}}"))? == object(root, "HEAD")?)
}

/// Returns the hash of the object with this name.
fn object(root: &Path, name: &str) -> Result<Option<String>> {
    git(root, &["rev-parse", "--verify", "--quiet", "--end-of-options", name])
}

/// Returns the output of git, or `None` if git answers "no".
fn git(root: &Path, arguments: &[&str]) -> Result<Option<String>> {
    let sh = Shell::new()?;
    sh.change_dir(root);
    // git sets these variables for a hook. They name the hook's repository, which may differ.
    let hooks = ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"];
    let command = hooks.iter().fold(cmd!(sh, "git {arguments...}"), Cmd::env_remove);
    let command = command.ignore_status();
    let output =
        command.output().with_context(|| format!("cannot run git: install it, or {INSTEAD}"))?;
    match output.status.code() {
        Some(0) => Ok(Some(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())),
        Some(1) => Ok(None),
        _ => {
            let stderr = String::from_utf8_lossy(&output.stderr);
            let line = stderr.split_whitespace().collect::<Vec<_>>().join(" ");
            bail!("`{command}` failed: {line}; fix this, or {INSTEAD}")
        }
    }
}
