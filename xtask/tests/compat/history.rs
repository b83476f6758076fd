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
    let broken = mutated(&[r#"set /info/description "old""#, BREAK]);
    repository.commit(DOCUMENT, &broken.to_string());
    repository.commit("README.md", "words");
    repository.push("main");

    let hash = repository.hash("HEAD~2");
    let place = "#/components/schemas/NewPlant/properties/tag";
    let first = format!(
        "{DOCUMENT} 1.0.0, since 1.0.0 of the last commit with a different document ({hash}): "
    );
    let what = "removed: string";
    let line = format!("POST /plants  NewPlant.tag  {what}");
    let reason = "  optional-removed: a client may send it\n";
    let need = "breaks wire; needs 2.0.0 or larger";
    let (printed, exit_code) = repository.compat(&[]);
    let (printed, date) = printed.split_once("date = ").expect("an entry is offered");
    let offered = format!(
        "{first}{need}\nbreaks wire    {line}  (optional-removed)\n{reason}{need}\n\
         to accept the first one, add this with a reason to accepted-changes.toml:\n\
         [[change]]\nplace = {place:?}\nchange = {what:?}\nreason = \"\"\n"
    );
    assert_eq!((printed, exit_code), (&offered[..], Some(1)));
    let (_, failed) = date.split_once('\n').expect("the error is the last line");
    let error = "xtask: info.version is 1.0.0, was 1.0.0, and must be 2.0.0 or larger: set \
                 `info.version` in server/src/lib.rs, then run `cargo xtask generate`\n";
    assert_eq!(failed, error);

    let entry = |place: &str, reason: &str| {
        format!("[[change]]\nplace = {place:?}\nchange = {what:?}\n{reason}\ndate = 2026-11-23\n")
    };
    let accepted = [entry(place, "reason = \"why\""), entry("#/a", "reason = \"why\"")].concat();
    repository.write("openapi/accepted-changes.toml", &accepted);
    let passed = format!(
        "{first}nothing else changed\n\
         accepted       {line}  (breaks wire; 2026-11-23: why)\n\
         note: an accepted change was not found: #/a  {what}\n{reason}\
         nothing else changed\n"
    );
    assert_eq!(repository.compat(&[]), (passed, Some(0)));

    for (reason, message) in [("", "missing field `reason`"), ("reason = ' '", "without a reason")]
    {
        repository.write("openapi/accepted-changes.toml", &entry(place, reason));
        let (printed, exit_code) = repository.compat(&[]);
        assert!(
            printed.contains(message) && printed.contains("accepted-changes.toml"),
            "{printed}"
        );
        assert_eq!(exit_code, Some(1));
    }
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
    assert!(printed.contains(&format!("since 1.0.0 of {name}: words only; ")), "{printed}");
    assert_eq!(exit_code, Some(0));
    let (printed, exit_code) = repository.compat_with(&["--against", DOCUMENT], &[]);
    assert!(printed.ends_with(&format!("of the file {DOCUMENT}: nothing changed\n")));
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
