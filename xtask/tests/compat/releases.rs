//! The compatibility check in a history with releases: tags of `v` and a version.

use xtask::checkout::DOCUMENT;

use crate::repository::{Repository, described};
use crate::{ADD, BREAK, mutated};

/// The document as this version, with these edits.
fn versioned(version: &str, edits: &[&str]) -> String {
    let version = format!("set /info/version {version:?}");
    mutated(&[edits, &[&version]].concat()).to_string()
}

const BREAK_MORE: &str = "remove Error/properties/message";

#[test]
fn a_commit_is_compared_with_the_last_release_that_it_descends_from() {
    let repository = Repository::with(&["older", "old"]);
    repository.git("tag v1.9.0 HEAD~1");
    repository.git("tag --annotate --message release v1.10.0");
    for words in ["half", "new"] {
        repository.commit(DOCUMENT, &described(words));
        repository.assert_released(words, "old", "v1.10.0");
        repository.push("main");
        repository.assert_released(words, "old", "v1.10.0");
    }
    repository.assert_released("not committed", "old", "v1.10.0");

    repository.git("checkout --quiet -b maintenance v1.9.0");
    repository.assert_released("not committed", "older", "v1.9.0");
}

/// GitHub checks out the merge of a branch into main.
#[test]
fn a_merge_of_a_pull_request_or_of_a_merge_queue_is_compared_with_the_release_on_main() {
    let repository = Repository::with(&["old"]);
    repository.git("checkout --quiet -b branch");
    repository.commit(DOCUMENT, &described("new"));
    repository.git("checkout --quiet main");
    repository.commit("README.md", "words");
    repository.git("tag v1.0.0");
    repository.push("main");
    repository.git("checkout --quiet --detach main");
    repository.git("merge --quiet --no-ff --no-edit branch");
    repository.assert_released("new", "old", "v1.0.0");
}

/// Compared with itself, the commit of a release would always pass.
#[test]
fn a_release_is_compared_with_the_release_before_it() {
    let repository = Repository::with(&["old"]);
    repository.git("tag v1.0.0");
    let said = format!("{DOCUMENT} 1.0.0: no commit has an older document\n");
    assert_eq!(repository.compat(&[]), (said, Some(0)));
    repository.assert_released("not committed", "old", "v1.0.0");

    repository.commit(DOCUMENT, &described("new"));
    repository.git("tag v1.1.0");
    repository.assert_released("new", "old", "v1.0.0");
    // A release that changes nothing of the contract.
    repository.commit("README.md", "words");
    repository.git("tag v1.1.1");
    repository.assert_released("new", "new", "v1.1.0");
}

/// A pre-release promises nothing (Semantic Versioning 2.0.0, section 9).
#[test]
fn a_tag_that_is_no_release_does_not_count() {
    let repository = Repository::with(&["oldest"]);
    repository.commit("README.md", "words");
    repository.git("tag v0.9.0");
    repository.commit(DOCUMENT, &described("old"));
    for tag in ["v1", "v1.0", "v1.0.0-rc.1", "vendored", "1.0.0", "release-1.0.0"] {
        repository.git(&format!("tag {tag}"));
    }
    repository.commit(DOCUMENT, &described("new"));
    repository.assert_released("new", "oldest", "v0.9.0");
    repository.git("tag --delete v0.9.0");
    repository.assert_older("new", "old", "main~1");
}

#[test]
fn a_release_that_is_older_than_the_document_does_not_count() {
    let repository = Repository::with(&[]);
    repository.commit("README.md", "words");
    repository.git("tag v0.1.0");
    repository.commit(DOCUMENT, &described("old"));
    repository.commit(DOCUMENT, &described("new"));
    repository.assert_older("new", "old", "main~1");
}

/// The clone of one commit has no tag, unless the commit has one.
#[test]
fn a_shallow_clone_without_a_release_is_refused_and_one_with_a_release_takes_it() {
    let whole = Repository::with(&["old"]);
    whole.git("tag v1.0.0");
    whole.commit(DOCUMENT, &described("new"));
    let cut_off =
        "the history is cut off before the last release: `git fetch --unshallow` brings it";
    let shallow = whole.shallow(1);
    shallow.assert_refused("new", cut_off);
    shallow.git("fetch --quiet --unshallow");
    shallow.assert_released("new", "old", "v1.0.0");
    whole.shallow(2).assert_released("new", "old", "v1.0.0");

    whole.git("tag v1.1.0");
    let tagged = whole.shallow(1);
    tagged.assert_refused("new", cut_off);
    tagged.assert_released("not committed", "new", "v1.1.0");
}

#[test]
fn two_breaking_changes_between_two_releases_need_one_major_version() {
    let repository = Repository::with(&[]);
    repository.commit(DOCUMENT, &versioned("1.0.0", &[]));
    repository.git("tag v1.0.0");
    let hash = repository.hash("v1.0.0");
    for edits in [&[BREAK][..], &[BREAK, BREAK_MORE], &[BREAK, BREAK_MORE, ADD]] {
        repository.commit(DOCUMENT, &versioned("2.0.0", edits));
        repository.push("main");
        let (said, status) = repository.compat(&[]);
        let first = format!("{DOCUMENT} 2.0.0, since 1.0.0 of the release v1.0.0 ({hash}): ");
        assert!(said.starts_with(&first) && status == Some(0), "{said}");
    }
    repository.git("tag v2.0.0");
    repository.commit(DOCUMENT, &versioned("2.0.0", &[BREAK, BREAK_MORE]));
    let (refusal, status) = repository.compat(&[]);
    assert!(refusal.contains("must be 3.0.0 or larger") && status == Some(1), "{refusal}");
}
