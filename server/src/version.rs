//! Which release this is, and which commit it was built from.

use git_version::git_version;

/// The commit, as git-describe(1) abbreviates it, with `-dirty` if the checkout had changes; empty
/// if the sources are no checkout, or if there is no git. If the sources lie in another repository,
/// it is the commit of that one.
pub const COMMIT: &str =
    git_version!(args = ["--always", "--dirty", "--abbrev=12", "--exclude=*"], fallback = "");

/// The release, and the commit in brackets.
pub fn version() -> String {
    let release = env!("CARGO_PKG_VERSION");
    if COMMIT.is_empty() { release.to_owned() } else { format!("{release} ({COMMIT})") }
}
