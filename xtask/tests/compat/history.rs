//! The base of the compatibility check in a real git history without a release.

use serde_json::Value;
use xtask::checkout::DOCUMENT;

use crate::repository::{Repository, described};
use crate::{BREAK, mutated};

#[test]
fn branch_is_compared_with_the_merge_base() {
    let repository = Repository::with(&["oldest", "old"]);
    repository.git("checkout --quiet -b branch");
    repository.commit(DOCUMENT, &described("half"));
    repository.commit(DOCUMENT, &described("new"));
    repository.git("checkout --quiet main");
    repository.commit(DOCUMENT, &described("newer on main"));
    repository.push("main");
    for state in ["checkout --quiet branch", "checkout --quiet --detach"] {
        repository.git(state);
        repository.assert_base("new", "old", "main~1");
        repository.assert_base("not committed", "old", "main~1");
    }
    // A change that the branch made and reverted was never published.
    repository.assert_base("old", "oldest", "main~2");
}

#[test]
fn main_is_compared_with_the_previous_document() {
    let repository = Repository::with(&["oldest", "old", "same"]);
    repository.commit("README.md", "words");
    repository.push("main");
    repository.assert_base("same", "old", "main~2");

    let repository = Repository::with(&["old"]);
    repository.git("checkout --quiet -b branch");
    repository.commit(DOCUMENT, &described("half"));
    repository.commit(DOCUMENT, &described("new"));
    repository.git("checkout --quiet main");
    repository.commit("README.md", "words");
    repository.git("merge --quiet --no-edit branch");
    repository.push("main");
    repository.assert_base("new", "old", "main~2");
}

/// For a pull request and a merge queue, GitHub checks out a merge commit whose first parent is
/// `origin/main`.
#[test]
fn merge_commit_of_a_pull_request_is_compared_with_main() {
    let repository = Repository::with(&["oldest", "old"]);
    repository.push("main");
    repository.git("checkout --quiet -b branch");
    repository.commit(DOCUMENT, &described("half"));
    repository.commit(DOCUMENT, &described("new"));
    repository.git("checkout --quiet --detach main");
    repository.git("merge --quiet --no-ff --no-edit branch");
    repository.assert_base("new", "old", "main");
}

#[test]
fn breaking_commit_on_main_fails_unless_it_is_accepted() {
    let repository = Repository::with(&["old"]);
    let broken = mutated(&[("/info/description", Some("\"old\"")), BREAK]);
    repository.commit(DOCUMENT, &broken.to_string());
    repository.commit("README.md", "words");
    repository.push("main");

    let hash = repository.hash("HEAD~2");
    let first = format!(
        "1.0.0 of {DOCUMENT}, since 1.0.0 of the last commit with a different document ({hash}): "
    );
    let line = "breaks wire    POST /plants  NewPlant.tag  removed: string  (optional-removed)";
    let reason = "  optional-removed: a client may send it\n";
    let need = "the changes break running clients: info.version must be 2.0.0 or larger";
    let advice = "to accept a change, add its line to a file, with a reason behind ` # `";
    let error = "xtask: set `info.version` in server/src/lib.rs, then run `cargo xtask generate`; \
                 or accept the changes in openapi/accepted-changes.txt";
    let failed = format!("{first}{need}\n{line}\n{reason}{need}\n{advice}\n{error}\n");
    assert_eq!(repository.compat(&[]), (failed, Some(1)));
    let summary = repository.root.join("summary");
    let summary = summary.to_str().expect("a path that is text");
    let (printed, exit_code) = repository.compat(&[("GITHUB_STEP_SUMMARY", summary)]);
    assert!(printed.contains(&format!("\n::error file={DOCUMENT},line=1::{line}\n")), "{printed}");
    assert_eq!(exit_code, Some(1));

    repository.write("openapi/accepted-changes.txt", &format!("{line}  # why\n"));
    let passed = "nothing changed except what is accepted: info.version is large enough";
    let passed = format!("{first}{passed}\naccepted: {line} # why\n{reason}{passed}\n");
    assert_eq!(repository.compat(&[]), (passed, Some(0)));
    repository.write("openapi/accepted-changes.txt", line);
    let (printed, exit_code) = repository.compat(&[]);
    assert!(printed.contains("accepted-changes.txt, line 1: "), "{printed}");
    assert_eq!(exit_code, Some(1));
}

/// A commit that only reformats or removes the document does not hide the change before it.
#[test]
fn without_origin_main_the_last_different_document_is_the_base() {
    let repository = Repository::with(&["old", "new"]);
    let value: Value = serde_json::from_str(&described("new")).expect("a document is JSON");
    let formatted = serde_json::to_string_pretty(&value).expect("a document is JSON");
    repository.commit(DOCUMENT, &formatted);
    repository.assert_base("new", "old", "HEAD~2");
    repository.assert_base("not committed", "new", "HEAD");
    repository.git(&format!("rm --quiet {DOCUMENT}"));
    repository.git("commit --quiet --message change");
    repository.assert_base("new", "old", "HEAD~3");
}

#[test]
fn history_without_an_older_document_has_no_base() {
    let repository = Repository::with(&[]);
    assert_eq!(repository.base("new"), Ok(None));
    for (file, text) in [("README.md", "words"), (DOCUMENT, &described("new"))] {
        repository.commit(file, text);
        assert_eq!(repository.base("new"), Ok(None));
    }
    repository.push("main");
    let printed = format!("{DOCUMENT} 1.0.0: no commit has an older document\n");
    assert_eq!(repository.compat(&[]), (printed, Some(0)));
}

/// The last release may be older than the oldest commit of a shallow clone.
#[test]
fn shallow_history_without_a_release_is_an_error() {
    let whole = Repository::with(&["old", "new"]);
    whole.commit("README.md", "words");
    whole.git("branch topic HEAD~1");
    let shallow_error =
        "the history is shallow and may lack the last release: run `git fetch --unshallow`";
    for depth in [1, 2] {
        let shallow = whole.shallow(depth);
        shallow.assert_error("new", shallow_error);
        shallow.git("remote remove origin");
        shallow.assert_error("new", shallow_error);
    }

    // The merge base is one commit older than the oldest commit of the clone.
    let topic = whole.shallow(1);
    topic.git("checkout --quiet --detach origin/topic");
    topic.commit("README.md", "other words");
    topic.assert_error("new", shallow_error);

    topic.git("fetch --quiet --unshallow");
    topic.assert_base("new", "old", "origin/main~2");
}

/// This happens in a container if the mounted checkout belongs to another user.
#[test]
fn error_of_git_is_reported_in_one_line() {
    let repository = Repository::with(&["old", "new"]);
    let (line, exit_code) = repository.compat(&[("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")]);
    assert_eq!((line.lines().count(), exit_code), (1, Some(1)), "{line}");
    assert!(line.contains("detected dubious ownership in repository"), "{line}");
    assert!(line.contains("git config --global --add safe.directory"), "{line}");
}

#[test]
fn against_names_a_revision_or_a_file() {
    let repository = Repository::with(&["old", "new"]);
    let name = format!("HEAD~1 ({})", repository.hash("HEAD~1"));
    let (printed, exit_code) = repository.compat_with(&["--against", "HEAD~1"], &[]);
    assert!(
        printed.contains(&format!("since 1.0.0 of {name}: no change breaks a client: ")),
        "{printed}"
    );
    assert_eq!(exit_code, Some(0));
    let (printed, exit_code) = repository.compat_with(&["--against", DOCUMENT], &[]);
    let same = format!("of the file {DOCUMENT}: nothing changed: info.version is large enough\n");
    assert!(printed.ends_with(&same), "{printed}");
    assert_eq!(exit_code, Some(0));
    for name in ["", "elsewhere", "--all"] {
        let against = format!("--against={name}");
        let (printed, exit_code) = repository.compat_with(&[&against], &[]);
        let line = format!(
            "xtask: --against: `{name}` is neither a file nor a revision that contains {DOCUMENT}\n"
        );
        assert_eq!((printed, exit_code), (line, Some(1)));
    }
}
