//! The older document that the present one is held against: out of a file or out of the history.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::DOCUMENT;

/// An older document.
pub struct Older {
    /// Where it comes from, for people.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// The document of a file or a revision; without one, that of the merge base with `origin/main`,
/// else that of the last commit that touched it. None where the history has none.
pub fn older(root: &Path, against: Option<&str>) -> Result<Option<Older>> {
    match against {
        Some(file) if Path::new(file).is_file() => {
            let text = fs::read_to_string(file).with_context(|| format!("cannot read {file}"))?;
            Ok(Some(Older { name: file.into(), text }))
        }
        Some(revision) => at(root, revision)?
            .with_context(|| format!("{revision} is no file, and no revision that has {DOCUMENT}"))
            .map(Some),
        None => match default_revision(root)? {
            Some(revision) => at(root, &revision),
            None => Ok(None),
        },
    }
}

fn default_revision(root: &Path) -> Result<Option<String>> {
    if let Some(base) = git(root, &["merge-base", "HEAD", "origin/main"])? {
        return Ok(Some(base));
    }
    // At the edge of a shallow clone every file looks new, and nothing would ever have changed.
    ensure!(
        git(root, &["rev-parse", "--is-shallow-repository"])?.as_deref() != Some("true"),
        "the history is cut off before an older document: `git fetch --unshallow` brings it"
    );
    git(root, &["log", "-1", "--format=%H", "--", DOCUMENT])
}

fn at(root: &Path, revision: &str) -> Result<Option<Older>> {
    let text = git(root, &["show", &format!("{revision}:{DOCUMENT}")])?;
    Ok(text.map(|text| Older { name: revision.into(), text }))
}

/// What git prints; none where it fails or has nothing to say.
fn git(root: &Path, arguments: &[&str]) -> Result<Option<String>> {
    let output = Command::new("git")
        .arg("-C")
        .arg(root)
        .args(arguments)
        .output()
        .context("cannot start git")?;
    let text = String::from_utf8(output.stdout).context("git printed no text")?;
    let text = text.trim_end();
    Ok((output.status.success() && !text.is_empty()).then(|| text.to_owned()))
}
