//! The document of a file or of a revision, and the last document of the history that says
//! something else than the present one.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use super::git::{document, git, object};
use plant_store_compat::Document;
use xtask::checkout::DOCUMENT;

const NAME_ONE: &str = "name a document to compare with: `cargo xtask compat --against REV|FILE`";

const MAIN: &str = "refs/remotes/origin/main";

/// The document of a file or a revision.
pub fn named(root: &Path, against: &str) -> Result<Document> {
    if against.is_empty() {
        bail!("--against is empty: give it a revision or a file");
    }
    if Path::new(against).is_file() {
        let text = fs::read_to_string(against).with_context(|| format!("cannot read {against}"))?;
        return Document::parse(&format!("the file {against}"), &text);
    }
    let commit = object(root, &format!("{against}^{{commit}}"))?
        .with_context(|| format!("--against: {against} is no file and no revision"))?;
    let name = format!("{against} ({})", &commit[..7]);
    let older = document(root, &commit, &name)?;
    older.with_context(|| format!("{name} has no {DOCUMENT}: {NAME_ONE}"))
}

/// The last document, along the first parent of the merge base with `origin/main`, that says
/// something else. None if no commit has one. Pre-releases promise nothing (Semantic Versioning
/// 2.0.0, section 9): they are skipped if there is a release before them.
pub fn last_other(root: &Path, present: &Document) -> Result<Option<Document>> {
    if object(root, "HEAD")?.is_none() {
        let others = git(root, &["rev-list", "--all", "--max-count=1"])?.unwrap_or_default();
        ensure!(others.is_empty(), "the branch has no commit yet, but others have: {NAME_ONE}");
        return Ok(None);
    }
    // There may be no `origin/main`, or one with another history.
    let base = match object(root, MAIN)? {
        Some(_) => git(root, &["merge-base", "HEAD", MAIN])?,
        None => None,
    };
    let start = base.as_deref().unwrap_or("HEAD");
    let commits = git(root, &["rev-list", "--first-parent", start, "--", DOCUMENT])?;
    let mut pre_release = None;
    for commit in commits.context("git lists no commits, and no reason")?.lines() {
        let name = format!("the last commit with another document ({})", &commit[..7]);
        match document(root, commit, &name)? {
            Some(older) if older.means_the_same_as(present) => {}
            Some(older) if older.version.pre.is_empty() => return Ok(Some(older)),
            older => pre_release = pre_release.or(older),
        }
    }
    Ok(pre_release)
}
