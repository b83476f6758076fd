//! Which older document the compatibility check takes from a real history.

use std::path::Path;

use plant_store_chores::compat::{DOCUMENT, Document, older};
use serde_json::Value;

use super::mutated;
use super::repository::{Repository, described};

const MERGE_BASE: &str = "the merge base with origin/main";
const LAST_OTHER: &str = "the last commit with another document";

#[test]
fn a_branch_is_compared_with_the_merge_base() {
    let repository = Repository::with(&["oldest", "old"]);
    repository.git("checkout --quiet -b branch");
    repository.commit(DOCUMENT, &described("half"));
    repository.commit(DOCUMENT, &described("new"));
    repository.git("checkout --quiet main");
    repository.commit(DOCUMENT, &described("main went on"));
    repository.push("main");
    for state in ["checkout --quiet branch", "checkout --quiet --detach"] {
        repository.git(state);
        repository.assert_older("new", "old", MERGE_BASE, "main~1");
        repository.assert_older("not committed", "old", MERGE_BASE, "main~1");
    }
}

#[test]
fn a_branch_without_a_change_is_compared_with_the_document_before_the_merge_base() {
    let repository = Repository::with(&["oldest", "old", "same"]);
    repository.commit("README.md", "words");
    repository.push("main");
    repository.git("checkout --quiet -b branch");
    repository.assert_older("same", "old", LAST_OTHER, "main~2");
    // A change that the branch made and took back was never published.
    repository.commit(DOCUMENT, &described("done"));
    repository.commit(DOCUMENT, &described("same"));
    repository.assert_older("same", "old", LAST_OTHER, "main~2");
}

#[test]
fn a_breaking_last_commit_on_main_fails_after_its_push() {
    let repository = Repository::with(&["old"]);
    let broken = mutated(&[r#"set /info/description "old""#, "remove Plant/properties/tag"]);
    repository.commit(DOCUMENT, &broken.to_string());
    repository.commit("README.md", "words");
    repository.push("main");

    let output = repository.compat(&[]);
    let hash = repository.git("rev-parse --short HEAD~2");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(
        printed.lines().collect::<Vec<_>>(),
        [
            &format!("{DOCUMENT} 1.0.0, since 1.0.0 of {LAST_OTHER} ({hash}):")[..],
            "breaking    #/components/schemas/Plant/properties/tag  removed",
            "breaking; needs 2.0.0 or larger",
        ],
    );
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "xtask: info.version is 1.0.0, was 1.0.0, and must be 2.0.0 or larger: set VERSION in \
         server/api/src/document.rs, then run `cargo xtask generate`\n",
    );
}

/// A commit that only formats the document, or removes it, does not hide the change before it.
#[test]
fn a_clone_without_origin_main_is_compared_with_the_last_other_document() {
    let repository = Repository::with(&["old", "new"]);
    let value: Value = serde_json::from_str(&described("new")).expect("a document is JSON");
    let formatted = serde_json::to_string_pretty(&value).expect("a document is JSON");
    repository.commit(DOCUMENT, &formatted);
    repository.assert_older("new", "old", LAST_OTHER, "HEAD~2");
    repository.assert_older("not committed", "new", LAST_OTHER, "HEAD");
    repository.git(&format!("rm --quiet {DOCUMENT}"));
    repository.git("commit --quiet --message change");
    repository.assert_older("new", "old", LAST_OTHER, "HEAD~3");
}

#[test]
fn a_merge_is_compared_with_its_first_parent() {
    let repository = Repository::with(&["old"]);
    repository.git("checkout --quiet -b branch");
    repository.commit(DOCUMENT, &described("half"));
    repository.commit(DOCUMENT, &described("new"));
    repository.git("checkout --quiet main");
    repository.commit("README.md", "words");
    repository.git("merge --quiet --no-edit branch");
    repository.push("main");
    repository.assert_older("new", "old", LAST_OTHER, "main~2");
}

/// Semantic Versioning, section 9: the promise of the release holds, not that of the pre-release.
#[test]
fn a_pre_release_is_passed_over_if_a_release_is_before_it() {
    let release_candidate =
        mutated(&[r#"set /info/description "rc""#, r#"set /info/version "2.0.0-rc.1""#]);
    let repository = Repository::with(&["released"]);
    repository.commit(DOCUMENT, &release_candidate.to_string());
    repository.push("main");
    repository.assert_older("new", "released", LAST_OTHER, "main~1");

    let repository = Repository::new();
    repository.commit(DOCUMENT, &release_candidate.to_string());
    repository.push("main");
    repository.assert_older("new", "rc", MERGE_BASE, "main");
}

#[test]
fn a_history_without_an_older_document_has_none() {
    let repository = Repository::new();
    assert_eq!(repository.older("new").expect("no commit"), None);
    repository.commit("README.md", "words");
    assert_eq!(repository.older("new").expect("no document"), None);
    repository.commit(DOCUMENT, &described("new"));
    assert_eq!(repository.older("new").expect("one document"), None);
    repository.push("main");
    assert_eq!(repository.older("new").expect("one document"), None);

    let output = repository.compat(&[]);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(printed, format!("{DOCUMENT} 1.0.0: no commit has an older document\n"));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_merge_base_without_the_document_is_refused() {
    let repository = Repository::new();
    repository.commit("README.md", "words");
    repository.push("main");
    repository.commit(DOCUMENT, &described("new"));
    let hash = repository.git("rev-parse --short HEAD~1");
    let line = format!("{MERGE_BASE} ({hash}) has no {DOCUMENT}: name a document");
    repository.assert_refused("new", &line);
}

#[test]
fn a_history_that_is_cut_off_is_refused() {
    let whole = Repository::with(&["old", "new"]);
    whole.commit("README.md", "words");
    whole.git("branch topic HEAD~1");
    let cut_off = "the history is cut off before";

    let shallow = whole.shallow(1);
    shallow.assert_refused("new", &format!("{cut_off} an older release of {DOCUMENT}"));
    shallow.git("remote remove origin");
    shallow.assert_refused("new", "`git fetch --unshallow` brings it");

    // The merge base is one commit older than the oldest of the clone.
    let shallow = whole.shallow(1);
    shallow.git("checkout --quiet --detach origin/topic");
    shallow.commit("README.md", "other words");
    shallow.assert_refused("new", &format!("{cut_off} the merge base with origin/main"));

    let deep_enough = whole.shallow(3);
    deep_enough.assert_older("new", "old", LAST_OTHER, "HEAD~2");
}

/// As in a container with a mounted checkout that belongs to another user.
#[test]
fn a_repository_that_git_refuses_is_refused_in_one_line() {
    let repository = Repository::with(&["old", "new"]);
    let output = repository.compat(&[("GIT_TEST_ASSUME_DIFFERENT_OWNER", Path::new("1"))]);
    let line = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{line}");
    assert!(line.contains("detected dubious ownership in repository"), "{line}");
    assert!(line.contains("git config --global --add safe.directory"), "{line}");
    assert_eq!(line.lines().count(), 1, "{line}");
}

#[test]
fn a_named_document_is_that_of_a_revision_or_a_file() {
    let repository = Repository::with(&["old", "new"]);
    let present = Document::parse("this test", &described("new")).expect("a document");
    let named = |against| older(&repository.root, Some(against), &present);
    let refused = |against| named(against).err().expect("no document").to_string();

    let hash = repository.git("rev-parse --short HEAD~1");
    let older = named("HEAD~1").expect("a revision").expect("a document");
    assert_eq!(older.name, format!("HEAD~1 ({hash})"));
    assert_eq!(older.json["info"]["description"], "old");

    let file = repository.root.join(DOCUMENT);
    let file = file.to_str().expect("a path that is text");
    assert_eq!(named(file).expect("a file").expect("a document").name, format!("the file {file}"));

    assert_eq!(refused(""), "--against is empty: give it a revision or a file");
    assert_eq!(refused("elsewhere"), "--against: elsewhere is no file and no revision");
    assert_eq!(refused("--all"), "--against: --all is no file and no revision");

    repository.git(&format!("rm --quiet {DOCUMENT}"));
    repository.git("commit --quiet --message change");
    assert!(refused("HEAD").contains(&format!("has no {DOCUMENT}: name a document")));
}
