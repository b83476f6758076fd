//! Which version a change needs, by Semantic Versioning 2.0.0.

use std::cmp::Ordering;

use anyhow::{Context, Result, ensure};
use semver::{Prerelease, Version};

use crate::Report;
use crate::class::Class;

impl Report {
    /// The least version that the newer document may have.
    ///
    /// A pre-release promises nothing (section 9), so any change after it may keep its version.
    pub fn least_version(&self) -> Result<Version> {
        let old = &self.old;
        let next = |number: u64| {
            number.checked_add(1).with_context(|| format!("there is no next version after {old}"))
        };
        Ok(match self.class() {
            _ if !old.pre.is_empty() => old.clone(),
            Some(Class::Source | Class::Wire) => Version::new(next(old.major)?, 0, 0),
            Some(Class::Additive) => Version::new(old.major, next(old.minor)?, 0),
            Some(Class::Words) | None => Version::new(old.major, old.minor, old.patch),
        })
    }

    /// What the changes need, in a line.
    #[must_use]
    pub fn need(&self) -> String {
        let Some(class) = self.class() else {
            return format!(
                "nothing{} changed",
                if self.changes.is_empty() { "" } else { " else" }
            );
        };
        match self.least_version() {
            Ok(_) if !self.old.pre.is_empty() => format!("{class}; a pre-release promised nothing"),
            Ok(least) if class > Class::Words => format!("{class}; needs {least} or larger"),
            Ok(_) => format!("{class}; needs no new version"),
            Err(error) => format!("{class}; {error}"),
        }
    }

    /// Fails if the newer version is smaller than the least one, or than the older one.
    ///
    /// A newer pre-release counts as the release that follows it: 2.0.0-rc.1 may break what 1.0.0
    /// promised. But it is older than that release (section 11). Build metadata does not count
    /// (section 10).
    pub fn verdict(&self) -> Result<()> {
        const MEND: &str =
            "set VERSION in server/api/src/document.rs, then run `cargo xtask generate`";
        let Self { old, new, .. } = self;
        let least = self.least_version()?;
        let release = Version { pre: Prerelease::EMPTY, ..new.clone() };
        ensure!(
            new.cmp_precedence(old) != Ordering::Less,
            "info.version falls from {old} to {new}, and must be {least} or larger: {MEND}"
        );
        ensure!(
            release.cmp_precedence(&least) != Ordering::Less,
            "info.version is {new}, was {old}, and must be {least} or larger: {MEND}"
        );
        Ok(())
    }
}
