//! All changes between two documents: which of them a file accepts, and the version that they need
//! by Semantic Versioning 2.0.0.

use std::cmp::Ordering::Less;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use semver::{Prerelease, Version};

use crate::{Change, Class, Document, Kind};

/// All changes between two documents.
pub struct Report {
    /// The older document.
    pub old: Document,
    /// The newer document.
    pub new: Document,
    /// The changes, most severe first.
    pub changes: Vec<Change>,
    /// Notes for people, such as lines of the file of accepted changes that match no change.
    pub notes: Vec<String>,
}

impl Report {
    /// The most severe class among the changes that were not accepted.
    #[must_use]
    pub fn class(&self) -> Option<Class> {
        self.changes.iter().filter(|one| one.accepted.is_none()).map(|one| one.class).max()
    }

    /// Marks the changes that a file accepts, so that they do not make the check fail. A line that
    /// matches no change becomes a note. An error contains the file and the line.
    pub fn accept(&mut self, path: &Path) -> Result<()> {
        let file = path.display();
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {file}"))?;
        for (at, line) in (1..).zip(text.lines().map(str::trim)) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let line = words(line);
            let mut is_found = false;
            // Nobody knows what changed in schemas that were not compared, so no line accepts it.
            for change in self.changes.iter_mut().filter(|one| one.kind != Kind::NotCompared) {
                // The change may contain ` # `, and so may the reason.
                let Some(rest) = line.strip_prefix(&words(&change.to_string())) else { continue };
                let reason = rest.strip_prefix(" # ").with_context(|| {
                    format!(
                        "{file}, line {at}: a change is accepted without a reason: write it behind \
                         ` # `"
                    )
                })?;
                is_found = true;
                change.accepted = Some(reason.to_owned());
            }
            if !is_found {
                self.notes.push(format!("line {at} of {file} accepts no change: remove it"));
            }
        }
        Ok(())
    }

    /// Returns the smallest `info.version` that the newer document may have.
    ///
    /// A pre-release promises nothing (section 9), so after a pre-release any change may keep the
    /// version.
    pub fn least_version(&self) -> Result<Version> {
        let old = version(&self.old)?;
        if !old.pre.is_empty() {
            return Ok(old);
        }
        Ok(match self.class() {
            Some(Class::Source | Class::Wire) => Version::new(old.major.saturating_add(1), 0, 0),
            Some(Class::Additive) => Version::new(old.major, old.minor.saturating_add(1), 0),
            Some(Class::Words) | None => Version::new(old.major, old.minor, old.patch),
        })
    }

    /// Whether the newer version is smaller than the version that the changes need, or than the
    /// older version.
    ///
    /// A newer pre-release counts as the release that follows it: 2.0.0-rc.1 may break what 1.0.0
    /// promised. But a pre-release precedes its release (section 11). Build metadata does not count
    /// (section 10).
    pub fn has_too_small_version(&self) -> Result<bool> {
        let (old, new) = (version(&self.old)?, version(&self.new)?);
        let release = Version { pre: Prerelease::EMPTY, ..new.clone() };
        let least = self.least_version()?;
        Ok(new.cmp_precedence(&old) == Less || release.cmp_precedence(&least) == Less)
    }
}

/// Parses the version of a document.
fn version(document: &Document) -> Result<Version> {
    let Document { name, version, .. } = document;
    let invalid = || format!("info.version {version} of {name} is not a semantic version");
    version.parse().with_context(invalid)
}

/// Replaces each run of spaces by one space.
fn words(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}
