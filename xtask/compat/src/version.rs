//! Which version a change needs, by Semantic Versioning 2.0.0.

use std::cmp::Ordering::Less;

use anyhow::{Result, ensure};
use semver::{Prerelease, Version};

use crate::Report;
use crate::class::Class;

impl Report {
    /// The least version that the newer document may have.
    ///
    /// A pre-release promises nothing (section 9), so any change after it may keep its version.
    #[must_use]
    pub fn least_version(&self) -> Version {
        let old = &self.old.version;
        match self.class() {
            _ if !old.pre.is_empty() => old.clone(),
            Some(Class::Source | Class::Wire) => Version::new(old.major.saturating_add(1), 0, 0),
            Some(Class::Additive) => Version::new(old.major, old.minor.saturating_add(1), 0),
            Some(Class::Words) | None => Version::new(old.major, old.minor, old.patch),
        }
    }

    /// What the changes need, in a line.
    #[must_use]
    pub fn need(&self) -> String {
        match self.class() {
            Some(class) => format!("{class}; needs {} or larger", self.least_version()),
            None if self.changes.is_empty() => "nothing changed".to_owned(),
            None => "nothing else changed".to_owned(),
        }
    }

    /// Fails if the newer version is smaller than the least one, or than the older one.
    ///
    /// A newer pre-release counts as the release that follows it: 2.0.0-rc.1 may break what 1.0.0
    /// promised. But it is older than that release (section 11). Build metadata does not count
    /// (section 10).
    pub fn verdict(&self) -> Result<()> {
        let (old, new) = (&self.old.version, &self.new.version);
        let least = self.least_version();
        let release = Version { pre: Prerelease::EMPTY, ..new.clone() };
        ensure!(
            new.cmp_precedence(old) != Less && release.cmp_precedence(&least) != Less,
            "info.version is {new}, was {old}, and must be {least} or larger: set VERSION in \
             server/api/src/document.rs, then run `cargo xtask generate`"
        );
        Ok(())
    }
}
