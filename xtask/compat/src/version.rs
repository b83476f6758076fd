//! Determines which version the changes need, by Semantic Versioning 2.0.0.

use std::cmp::Ordering::Less;

use anyhow::{Context, Result};
use semver::{Prerelease, Version};

use crate::{Class, Document, Report};

impl Report {
    /// Returns the smallest version that the newer document may have.
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
