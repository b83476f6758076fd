//! The older document that the present one is compared with: from a file or from the history.
//!
//! By default it is what consumers had before: the last document, along the first parent of the merge
//! base with `origin/main`, that says something else. Pre-releases promise nothing (Semantic Versioning,
//! section 9): they are skipped if there is a release before them.
//!
//! If git cannot tell, the check fails: a check that had nothing to compare with must not look like
//! one that passed.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use super::git::Git;
use super::{DOCUMENT, Document};

const NAME_ONE: &str = "name a document to compare with: `cargo xtask compat --against REV|FILE`";

const MAIN: &str = "refs/remotes/origin/main";

/// The document of a file or a revision, or the default one. None if git says that no commit has an
/// older document.
pub fn older(root: &Path, against: Option<&str>, present: &Document) -> Result<Option<Document>> {
    let git = Git(root);
    match against {
        Some("") => bail!("--against is empty: give it a revision or a file"),
        Some(file) if Path::new(file).is_file() => {
            let text = fs::read_to_string(file).with_context(|| format!("cannot read {file}"))?;
            Document::parse(&format!("the file {file}"), &text).map(Some)
        }
        Some(revision) => {
            let commit = git
                .commit(revision)?
                .with_context(|| format!("--against: {revision} is no file and no revision"))?;
            let name = format!("{revision} ({})", &commit[..7]);
            let older = git.document(&commit, &name)?;
            older.map(Some).with_context(|| format!("{name} has no {DOCUMENT}: {NAME_ONE}"))
        }
        None => by_default(&git, present),
    }
}

fn by_default(git: &Git<'_>, present: &Document) -> Result<Option<Document>> {
    if git.ask(&["rev-parse", "--verify", "--quiet", "HEAD"])?.is_none() {
        let commits = git.told(&["rev-list", "--all", "--max-count=1"])?;
        ensure!(commits.is_empty(), "the branch has no commit yet, but others have: {NAME_ONE}");
        return Ok(None);
    }
    let base = merge_base(git)?;
    let mut pre_release = None;
    for commit in git.commits_of_the_document(base.as_deref().unwrap_or("HEAD"))? {
        let name = format!("the last commit with another document ({})", &commit[..7]);
        match git.document(&commit, &name)? {
            Some(older) if older.means_the_same_as(present) => {}
            Some(older) if older.version.pre.is_empty() => return Ok(Some(older)),
            older => pre_release = pre_release.or(older),
        }
    }
    ensure!(
        !git.is_shallow()?,
        "the history is cut off before an older release of {DOCUMENT}: \
         `git fetch --unshallow` brings it"
    );
    Ok(pre_release)
}

/// None if there is no `origin/main`, or if it has another history.
fn merge_base(git: &Git<'_>) -> Result<Option<String>> {
    if git.ask(&["rev-parse", "--verify", "--quiet", MAIN])?.is_none() {
        return Ok(None);
    }
    let base = git.ask(&["merge-base", "HEAD", MAIN])?;
    ensure!(
        base.is_some() || !git.is_shallow()?,
        "the history is cut off before the merge base with origin/main: \
         `git fetch --unshallow` brings it"
    );
    Ok(base)
}
