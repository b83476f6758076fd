//! The document that the present one is compared with: that of the last release that the branch
//! descends from; before the first release that of the merge base with `origin/main`, or, if the
//! merge base has the present document, the last one before it that says something else.
//!
//! Git answers "no" with status 1. Every other failure is an error, with what git says about it.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use openapi_compat::Document;
use semver::Version;
use xshell::{Cmd, Shell, cmd};

use crate::checkout::DOCUMENT;

const INSTEAD: &str = "compare with a file: `cargo xtask compat --against FILE`";

/// The document that the present one is compared with; none if git says that no commit has one.
pub fn base(root: &Path, present: &Document) -> Result<Option<Document>> {
    if object(root, "HEAD")?.is_none() {
        let others = git(root, &["rev-list", "--all", "--max-count=1"])?.unwrap_or_default();
        ensure!(others.is_empty(), "the branch has no commit yet, but others have: {INSTEAD}");
        return Ok(None);
    }
    for tag in releases(root)? {
        // With itself the commit of a release would always pass.
        match at(root, &tag, &format!("the release {tag}"))? {
            Some(older) if means_the_same(&older, present) && is_head(root, &tag)? => {}
            Some(older) => return Ok(Some(older)),
            // A release may be older than the document.
            None => {}
        }
    }
    let is_shallow = git(root, &["rev-parse", "--is-shallow-repository"])?;
    ensure!(
        is_shallow.as_deref() != Some("true"),
        "the history is cut off before the last release: `git fetch --unshallow` brings it"
    );
    let merge_base = git(root, &["merge-base", "HEAD", "refs/remotes/origin/main"]).unwrap_or(None);
    let start = merge_base.as_deref().unwrap_or("HEAD");
    let listed =
        git(root, &["rev-list", "--first-parent", "--ignore-missing", start, "--", DOCUMENT])?;
    for commit in listed.iter().flat_map(|commits| commits.lines()) {
        match at(root, commit, "the last commit with another document")? {
            Some(older) if !means_the_same(&older, present) => return Ok(Some(older)),
            _ => {}
        }
    }
    Ok(None)
}

/// The tags of releases that `HEAD` descends from, the largest version first. Pre-releases promise
/// nothing (Semantic Versioning 2.0.0, section 9).
fn releases(root: &Path) -> Result<Vec<String>> {
    let listed = git(root, &["tag", "--list", "v*", "--merged", "HEAD"])?.unwrap_or_default();
    let versions = listed.lines().filter_map(|tag| tag.strip_prefix('v')?.parse().ok());
    let mut versions: Vec<Version> = versions.filter(|one: &Version| one.pre.is_empty()).collect();
    versions.sort();
    Ok(versions.iter().rev().map(|version| format!("v{version}")).collect())
}

/// The document of a file, or of a revision, that somebody named.
pub fn named(root: &Path, against: &str) -> Result<Document> {
    if Path::new(against).is_file() {
        let text = fs::read_to_string(against).with_context(|| format!("cannot read {against}"))?;
        return Document::parse(&format!("the file {against}"), &text);
    }
    let older = if against.is_empty() { None } else { at(root, against, against)? };
    older.with_context(|| {
        format!("--against: `{against}` is no file and no revision with {DOCUMENT}")
    })
}

/// The document of a revision, and what people call it; none if the revision has no such file.
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

fn means_the_same(one: &Document, other: &Document) -> bool {
    one.json == other.json
}

/// The hash of what a name stands for.
fn object(root: &Path, name: &str) -> Result<Option<String>> {
    git(root, &["rev-parse", "--verify", "--quiet", "--end-of-options", name])
}

/// What git prints; none if it answers "no".
fn git(root: &Path, arguments: &[&str]) -> Result<Option<String>> {
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
