//! The document of the last release: the one that consumers have.
//!
//! A release is a tag of `v` and a semantic version, on a commit that `HEAD` descends from. The
//! last one has the largest version. Pre-releases promise nothing (Semantic Versioning 2.0.0,
//! section 9), so they are no releases here.

use std::path::Path;

use anyhow::{Context, Result};
use semver::Version;

use super::git::{document, ensure_not_shallow, git, object};
use plant_store_compat::Document;

/// The document of the last release; none if there is no release.
///
/// The commit of a release is compared with the release before it: with itself it would always
/// pass. An error in a shallow clone that has no such tag: it may be on a commit that the clone
/// lacks.
pub fn released(root: &Path, present: &Document) -> Result<Option<Document>> {
    let Some(head) = object(root, "HEAD")? else { return Ok(None) };
    for version in releases(root)? {
        let tag = format!("v{version}");
        let commit = object(root, &format!("refs/tags/{tag}^{{commit}}"))?
            .with_context(|| format!("the tag {tag} is not on a commit"))?;
        let name = format!("the release {tag} ({})", &commit[..7]);
        // A release may be older than the document.
        let Some(older) = document(root, &commit, &name)? else { continue };
        let is_of_this_release = commit == head && older.means_the_same_as(present);
        if !is_of_this_release {
            return Ok(Some(older));
        }
    }
    ensure_not_shallow(root, "the last release")?;
    Ok(None)
}

/// The versions of the releases, the largest first.
fn releases(root: &Path) -> Result<Vec<Version>> {
    let listed = git(root, &["tag", "--list", "v*", "--merged", "HEAD"])?;
    let tags = listed.context("git lists no tags, and no reason")?;
    let versions = tags.lines().filter_map(|tag| tag.strip_prefix('v')?.parse().ok());
    let mut releases: Vec<Version> =
        versions.filter(|version: &Version| version.pre.is_empty()).collect();
    releases.sort_by(|one, other| other.cmp(one));
    Ok(releases)
}
