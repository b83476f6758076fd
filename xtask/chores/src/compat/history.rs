//! The older document that the present one is compared with: from a file or from the history.
//!
//! By default it is what consumers had before: the last document, along the first parent of the merge
//! base with `origin/main`, that says something else. Pre-releases promise nothing (Semantic Versioning,
//! section 9): they are skipped if there is a release before them.
//!
//! If git cannot tell, the check fails: a check that had nothing to compare with must not look like
//! one that passed. Git answers "no" with status 1. Every other failure is an error, with what git says
//! about it.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use xshell::{Cmd, Shell, cmd};

use super::{DOCUMENT, Document};

const NAME_ONE: &str = "name a document to compare with: `cargo xtask compat --against REV|FILE`";

const MAIN: &str = "refs/remotes/origin/main";

/// The document of a file or a revision, or the default one. None if git says that no commit has an
/// older document.
pub fn older(root: &Path, against: Option<&str>, present: &Document) -> Result<Option<Document>> {
    match against {
        Some("") => bail!("--against is empty: give it a revision or a file"),
        Some(file) if Path::new(file).is_file() => {
            let text = fs::read_to_string(file).with_context(|| format!("cannot read {file}"))?;
            Document::parse(&format!("the file {file}"), &text).map(Some)
        }
        Some(revision) => {
            let commit = object(root, &format!("{revision}^{{commit}}"))?
                .with_context(|| format!("--against: {revision} is no file and no revision"))?;
            let name = format!("{revision} ({})", &commit[..7]);
            let older = document(root, &commit, &name)?;
            older.map(Some).with_context(|| format!("{name} has no {DOCUMENT}: {NAME_ONE}"))
        }
        None => by_default(root, present),
    }
}

fn by_default(root: &Path, present: &Document) -> Result<Option<Document>> {
    if object(root, "HEAD")?.is_none() {
        let commits = git(root, &["rev-list", "--all", "--max-count=1"])?.unwrap_or_default();
        ensure!(commits.is_empty(), "the branch has no commit yet, but others have: {NAME_ONE}");
        return Ok(None);
    }
    // There may be no `origin/main`, or one with another history.
    let base = match object(root, MAIN)? {
        Some(_) => git(root, &["merge-base", "HEAD", MAIN])?,
        None => Some("HEAD".to_owned()),
    };
    if base.is_none() {
        is_whole(root, "the merge base with origin/main")?;
    }
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
    is_whole(root, &format!("an older release of {DOCUMENT}"))?;
    Ok(pre_release)
}

/// Fails in a shallow clone, in which the oldest commit seems to have added every file.
fn is_whole(root: &Path, missing: &str) -> Result<()> {
    let is_shallow = git(root, &["rev-parse", "--is-shallow-repository"])?;
    ensure!(
        is_shallow.as_deref() == Some("false"),
        "the history is cut off before {missing}: `git fetch --unshallow` brings it"
    );
    Ok(())
}

/// The document of a commit; none if the commit has no such file.
fn document(root: &Path, commit: &str, name: &str) -> Result<Option<Document>> {
    let Some(blob) = object(root, &format!("{commit}:./{DOCUMENT}"))? else { return Ok(None) };
    let text = git(root, &["cat-file", "blob", &blob])?;
    Document::parse(name, &text.context("git has no text, and no reason")?).map(Some)
}

/// The hash of what a name stands for.
fn object(root: &Path, name: &str) -> Result<Option<String>> {
    git(root, &["rev-parse", "--verify", "--quiet", name])
}

/// What git prints; none if it answers "no".
fn git(root: &Path, arguments: &[&str]) -> Result<Option<String>> {
    const MEND: &str = "compare with a file: `cargo xtask compat --against FILE`";
    let sh = Shell::new()?;
    sh.change_dir(root);
    // Git sets these for a hook. They name the hook's repository, which may be another one.
    let hooks = ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"];
    let command = hooks.iter().fold(cmd!(sh, "git {arguments...}"), Cmd::env_remove);
    let command = command.ignore_status();
    let output = command.output().with_context(|| format!("install git, or {MEND}"))?;
    let [printed, said] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    match output.status.code() {
        Some(0) => Ok(Some(printed.trim_end().to_owned())),
        Some(1) => Ok(None),
        _ => {
            let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
            bail!("`{command}` failed: {said}; mend that, or {MEND}")
        }
    }
}
