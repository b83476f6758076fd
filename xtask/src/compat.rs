//! The compatibility check: is `info.version` large enough for what changed in the document?
//!
//! This module finds the base, which is the older document, and `openapi-compat` does everything
//! else. `accepted-changes.txt` beside the document, if there is one, lists the breaking changes
//! that the maintainers have accepted. The goose farm has no consumers, so its document is not
//! checked.
//!
//! The base is the document of the last release from which `HEAD` descends. Before the first
//! release, it is the document of the merge base with `origin/main`. If that document equals the
//! present one, the base is the most recent document that differs, going back along first parents.
//!
//! The check must never pass without a comparison, unless git reports that no commit has an older
//! document. git answers "no" with exit code 1. Any other failure must be an error.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use openapi_compat::output::Check;
use openapi_compat::{Document, Format, compare};
use semver::Version;
use xshell::{Cmd, Shell, cmd};

use crate::checkout::{DOCUMENT, root};

/// The source file that contains the version of the document.
const SERVICE: &str = "server/src/lib.rs";

const INSTEAD: &str = "compare with a file: `cargo xtask compat --against FILE`";

/// The arguments of the compatibility check.
#[derive(Args)]
pub struct Flags {
    /// Revision or file to compare with [default: the last release, which is a tag such as
    /// `v1.2.0`; before the first release, the merge base with origin/main]
    #[arg(long, value_name = "REV|FILE")]
    against: Option<String>,
    /// The output format
    #[arg(long, default_value = "text")]
    format: Format,
}

/// Compares the document with an older one, prints every change, and fails if the changes need a
/// larger version than the document has.
pub fn check(Flags { against, format }: &Flags) -> Result<()> {
    let text = fs::read_to_string(root().join(DOCUMENT));
    let new = Document::parse(DOCUMENT, &text.with_context(|| format!("cannot read {DOCUMENT}"))?)?;
    let old = match against {
        Some(against) => Some(named(&root(), against)?),
        None => base(&root(), &new)?,
    };
    let Some(old) = old else {
        println!("{DOCUMENT} {}: no commit has an older document", new.version);
        return Ok(());
    };
    let mut report = compare(old, new);
    // The file is optional.
    let accepted = Path::new(DOCUMENT).with_file_name("accepted-changes.txt");
    if root().join(&accepted).exists() {
        report.accept(&root().join(&accepted))?;
    }
    let fails = report.print(Check::Semver, *format, Some(Path::new(DOCUMENT)))?;
    ensure!(
        !fails,
        "set `info.version` in {SERVICE}, then run `cargo xtask generate`; or accept the changes in \
         {}",
        accepted.display()
    );
    Ok(())
}

/// Returns the base of the present document, or `None` if no commit has an older document.
pub fn base(root: &Path, present: &Document) -> Result<Option<Document>> {
    let head = object(root, "HEAD")?;
    if head.is_none() {
        let others = git(root, &["rev-list", "--all", "--max-count=1"])?.unwrap_or_default();
        ensure!(
            others.is_empty(),
            "the current branch has no commit, but other branches have: {INSTEAD}"
        );
        return Ok(None);
    }
    for tag in releases(root)? {
        // Compared with itself, the commit of a release would always pass.
        let is_head = object(root, &format!("{tag}^{{commit}}"))? == head;
        match at(root, &tag, &format!("the release {tag}"))? {
            Some(older) if older.equals(present) && is_head => {}
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
    let tags = git(root, &["tag", "--merged", "HEAD", "--sort=-version:refname"])?;
    let is_release = |tag: &&str| {
        let version = tag.strip_prefix('v').and_then(|version| Version::parse(version).ok());
        version.is_some_and(|version| version.pre.is_empty())
    };
    Ok(tags.iter().flat_map(|tags| tags.lines()).filter(is_release).map(str::to_owned).collect())
}

/// Returns the document of the file or revision that the user named.
fn named(root: &Path, against: &str) -> Result<Document> {
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
