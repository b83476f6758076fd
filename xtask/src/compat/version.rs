//! Determines which version the changes of the document need, by Semantic Versioning 2.0.0.

use std::cmp::Ordering::Less;

use anyhow::{Context, Result, ensure};
use openapi_compat::{Class, Document, Report};
use semver::{Prerelease, Version};

/// Returns the smallest version that the newer document may have.
///
/// A pre-release promises nothing (section 9), so after a pre-release any change may keep the
/// version.
pub fn least(report: &Report) -> Result<Version> {
    let old = version(&report.old)?;
    if !old.pre.is_empty() {
        return Ok(old);
    }
    Ok(match report.class() {
        Some(Class::Source | Class::Wire) => Version::new(old.major.saturating_add(1), 0, 0),
        Some(Class::Additive) => Version::new(old.major, old.minor.saturating_add(1), 0),
        Some(Class::Words) | None => Version::new(old.major, old.minor, old.patch),
    })
}

/// Describes in one line which version the changes need.
pub fn need(report: &Report) -> Result<String> {
    Ok(match report.class() {
        Some(class) => format!("{class}; needs {} or larger", least(report)?),
        None if report.changes.is_empty() => "nothing changed".to_owned(),
        None => "nothing else changed".to_owned(),
    })
}

/// Fails if the newer version is smaller than the version that the changes need, or than the older
/// version.
///
/// A newer pre-release counts as the release that follows it: 2.0.0-rc.1 may break what 1.0.0
/// promised. But a pre-release precedes its release (section 11). Build metadata does not count
/// (section 10).
pub fn verdict(report: &Report) -> Result<()> {
    let old = version(&report.old)?;
    let new = version(&report.new)?;
    let least = least(report)?;
    let release = Version { pre: Prerelease::EMPTY, ..new.clone() };
    ensure!(
        new.cmp_precedence(&old) != Less && release.cmp_precedence(&least) != Less,
        "info.version is {new}, was {old}, and must be {least} or larger: set `info.version` \
         in server/src/lib.rs, then run `cargo xtask generate`"
    );
    Ok(())
}

/// Parses the version of a document. In this repository it must be a semantic version.
fn version(document: &Document) -> Result<Version> {
    let Document { name, version, .. } = document;
    let invalid = || format!("info.version {version} of {name} is not a semantic version");
    version.parse().with_context(invalid)
}
