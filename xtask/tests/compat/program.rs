//! `cargo xtask compat` in a repository: what it prints, and its exit code.

use xtask::checkout::DOCUMENT;

use crate::repository::{Repository, described};
use crate::{BREAK, mutated};

#[test]
fn breaking_commit_on_main_fails_unless_it_is_accepted() {
    let repository = Repository::with(&["old"]);
    let broken = mutated(&[("/info/description", Some("\"old\"")), BREAK]);
    repository.commit(DOCUMENT, &broken.to_string());
    repository.commit("README.md", "words");

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
    assert_eq!(repository.compat(&[], &[]), (failed, Some(1)));
    let (printed, exit_code) = repository.compat(&["--format", "github"], &[]);
    assert!(printed.contains(&format!("\n::error file={DOCUMENT}::{line}\n")), "{printed}");
    assert_eq!(exit_code, Some(1));

    repository.write("openapi/accepted-changes.txt", &format!("{line}  # why\n"));
    let passed = "nothing changed except what is accepted: info.version is large enough";
    let passed = format!("{first}{passed}\naccepted: {line} # why\n{reason}{passed}\n");
    assert_eq!(repository.compat(&[], &[]), (passed, Some(0)));
    repository.write("openapi/accepted-changes.txt", line);
    let (printed, exit_code) = repository.compat(&[], &[]);
    assert!(printed.contains("accepted-changes.txt, line 1: "), "{printed}");
    assert_eq!(exit_code, Some(1));
}

#[test]
fn history_without_an_older_document_passes() {
    let repository = Repository::with(&[]);
    assert_eq!(repository.base("new"), Ok(None), "no commit");
    repository.commit(DOCUMENT, &described("new"));
    let printed = format!("{DOCUMENT} 1.0.0: no commit has an older document\n");
    assert_eq!(repository.compat(&[], &[]), (printed, Some(0)));
}

/// This happens in a container if the mounted checkout belongs to another user.
#[test]
fn error_of_git_is_reported_in_one_line() {
    let repository = Repository::with(&["old", "new"]);
    let (line, exit_code) = repository.compat(&[], &[("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")]);
    assert_eq!((line.lines().count(), exit_code), (1, Some(1)), "{line}");
    assert!(line.contains("detected dubious ownership in repository"), "{line}");
    assert!(line.contains("git config --global --add safe.directory"), "{line}");
}

#[test]
fn against_names_a_revision_or_a_file() {
    let repository = Repository::with(&["old", "new"]);
    let name = format!("HEAD~1 ({})", repository.hash("HEAD~1"));
    let (printed, exit_code) = repository.compat(&["--against", "HEAD~1"], &[]);
    assert!(
        printed.contains(&format!("since 1.0.0 of {name}: no change breaks a client: ")),
        "{printed}"
    );
    assert_eq!(exit_code, Some(0));
    let (printed, exit_code) = repository.compat(&["--against", DOCUMENT], &[]);
    let same = format!("of the file {DOCUMENT}: nothing changed: info.version is large enough\n");
    assert!(printed.ends_with(&same), "{printed}");
    assert_eq!(exit_code, Some(0));
    for name in ["", "elsewhere", "--all"] {
        let against = format!("--against={name}");
        let (printed, exit_code) = repository.compat(&[&against], &[]);
        let line = format!(
            "xtask: --against: `{name}` is neither a file nor a revision that contains {DOCUMENT}\n"
        );
        assert_eq!((printed, exit_code), (line, Some(1)));
    }
}
