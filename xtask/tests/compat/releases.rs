//! The compatibility check in a history with releases, which are tags such as `v1.0.0`.

use xtask::checkout::DOCUMENT;

use crate::repository::{Repository, described};
use crate::{ADD, BREAK, Edit, mutated};

/// Returns the document with this version and these edits, as text.
fn versioned(version: &str, edits: &[Edit<'_>]) -> String {
    let version = format!("{version:?}");
    mutated(&[edits, &[("/info/version", Some(&version))]].concat()).to_string()
}

const BREAK_MORE: Edit<'_> = ("/components/schemas/Error/properties/message", None);

#[test]
fn commit_is_compared_with_the_last_release_before_it() {
    let repository = Repository::with(&["older", "old"]);
    repository.git("tag v1.9.0 HEAD~1");
    repository.git("tag --annotate --message release v1.10.0");
    for words in ["half", "new"] {
        repository.commit(DOCUMENT, &described(words));
        repository.assert_release(words, "old", "v1.10.0");
        repository.push("main");
        repository.assert_release(words, "old", "v1.10.0");
    }
    repository.assert_release("not committed", "old", "v1.10.0");

    repository.git("checkout --quiet -b maintenance v1.9.0");
    repository.assert_release("not committed", "older", "v1.9.0");
}

/// For a pull request and a merge queue, GitHub checks out a merge of the branch into main.
#[test]
fn merge_commit_of_a_pull_request_is_compared_with_the_release() {
    let repository = Repository::with(&["old"]);
    repository.git("checkout --quiet -b branch");
    repository.commit(DOCUMENT, &described("new"));
    repository.git("checkout --quiet main");
    repository.commit("README.md", "words");
    repository.git("tag v1.0.0");
    repository.push("main");
    repository.git("checkout --quiet --detach main");
    repository.git("merge --quiet --no-ff --no-edit branch");
    repository.assert_release("new", "old", "v1.0.0");
}

/// Compared with itself, the commit of a release would always pass.
#[test]
fn release_is_compared_with_the_previous_release() {
    let repository = Repository::with(&["old"]);
    repository.git("tag v1.0.0");
    let printed = format!("{DOCUMENT} 1.0.0: no commit has an older document\n");
    assert_eq!(repository.compat(&[]), (printed, Some(0)));
    repository.assert_release("not committed", "old", "v1.0.0");

    repository.commit(DOCUMENT, &described("new"));
    repository.git("tag v1.1.0");
    repository.assert_release("new", "old", "v1.0.0");
    // A release that does not change the contract.
    repository.commit("README.md", "words");
    repository.git("tag v1.1.1");
    repository.assert_release("new", "new", "v1.1.0");
}

/// A pre-release promises nothing (Semantic Versioning 2.0.0, section 9).
#[test]
fn tag_that_is_not_a_release_is_ignored() {
    let repository = Repository::with(&["oldest"]);
    repository.commit("README.md", "words");
    repository.git("tag v0.9.0");
    repository.commit(DOCUMENT, &described("old"));
    for tag in ["v1", "v1.0", "v1.0.0-rc.1", "vendored", "1.0.0", "release-1.0.0"] {
        repository.git(&format!("tag {tag}"));
    }
    repository.commit(DOCUMENT, &described("new"));
    repository.assert_release("new", "oldest", "v0.9.0");
    repository.git("tag --delete v0.9.0");
    repository.assert_base("new", "old", "main~1");
}

#[test]
fn release_older_than_the_first_document_is_ignored() {
    let repository = Repository::with(&[]);
    repository.commit("README.md", "words");
    repository.git("tag v0.1.0");
    repository.commit(DOCUMENT, &described("old"));
    repository.commit(DOCUMENT, &described("new"));
    repository.assert_base("new", "old", "main~1");
}

/// A clone of a single commit contains a tag only if that commit has one.
#[test]
fn shallow_clone_must_contain_the_last_release() {
    let whole = Repository::with(&["old"]);
    whole.git("tag v1.0.0");
    whole.commit(DOCUMENT, &described("new"));
    let shallow_error =
        "the history is shallow and may lack the last release: run `git fetch --unshallow`";
    let shallow = whole.shallow(1);
    shallow.assert_error("new", shallow_error);
    shallow.git("fetch --quiet --unshallow");
    shallow.assert_release("new", "old", "v1.0.0");
    whole.shallow(2).assert_release("new", "old", "v1.0.0");

    whole.git("tag v1.1.0");
    let tagged = whole.shallow(1);
    tagged.assert_error("new", shallow_error);
    tagged.assert_release("not committed", "new", "v1.1.0");
}

#[test]
fn breaking_changes_of_one_release_need_one_major_version() {
    let repository = Repository::with(&[]);
    repository.commit(DOCUMENT, &versioned("1.0.0", &[]));
    repository.git("tag v1.0.0");
    let hash = repository.hash("v1.0.0");
    for edits in [&[BREAK][..], &[BREAK, BREAK_MORE], &[BREAK, BREAK_MORE, ADD]] {
        repository.commit(DOCUMENT, &versioned("2.0.0", edits));
        repository.push("main");
        let (printed, exit_code) = repository.compat(&[]);
        let first = format!("2.0.0 of {DOCUMENT}, since 1.0.0 of the release v1.0.0 ({hash}): ");
        assert!(printed.starts_with(&first) && exit_code == Some(0), "{printed}");
    }
    repository.git("tag v2.0.0");
    repository.commit(DOCUMENT, &versioned("2.0.0", &[BREAK, BREAK_MORE]));
    let (refusal, exit_code) = repository.compat(&[]);
    assert!(refusal.contains("must be 3.0.0 or larger") && exit_code == Some(1), "{refusal}");
}
