//! All changes between two documents, and the version that they need by Semantic Versioning 2.0.0.

use std::cmp::Ordering::Less;

use anyhow::{Context, Result};
use semver::{Prerelease, Version};

use crate::{Change, Class, Document};

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
    pub(crate) fn new(old: Document, new: Document, mut changes: Vec<Change>) -> Self {
        changes.sort_by(|one, other| {
            other.class.cmp(&one.class).then_with(|| one.key().cmp(&other.key()))
        });
        Self { old, new, changes, notes: Vec::new() }
    }

    /// The most severe class among the changes that were not accepted.
    #[must_use]
    pub fn class(&self) -> Option<Class> {
        self.changes.iter().filter(|one| one.accepted.is_none()).map(|one| one.class).max()
    }

    /// The changes as they are printed: equal changes of several operations or types are merged.
    #[must_use]
    pub fn grouped(&self) -> Vec<Change> {
        let mut grouped: Vec<Change> = Vec::new();
        for change in &self.changes {
            match grouped.last_mut() {
                Some(last) if last.key() == change.key() && last.accepted == change.accepted => {
                    last.places.extend(change.places.iter().cloned());
                    last.operations.extend(change.operations.iter().cloned());
                }
                _ => grouped.push(change.clone()),
            }
        }
        grouped
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
