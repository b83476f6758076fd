//! Tests of the compatibility check of this repository: which documents are compared, and the exit
//! code. The tests in `xtask/compat` cover the changes, and which version they need.

mod repository;

use std::fs;

use openapi_compat::{Class, Document, compare};
use xtask::checkout::{DOCUMENT, root};

use crate::repository::{Repository, described};

/// The rows: the commit that is checked out, `origin/main`, the tags, what the present document
/// says, and the commit or the release whose document is the base.
const BASES: &str = "
    # A branch is compared with the merge base. What it made and reverted was never published.
    side    | later  |                           | new   | format
    # main is compared with the document before, along first parents.
    words   | words  |                           | two   | one
    merged  | merged |                           | new   | format
    # Without `origin/main`, a commit that formats or removes the document hides no change.
    format  |        |                           | other | format
    removed |        |                           | new   | format
    # No commit has an older document.
    page    | page   |                           | one   |
    # The base is the last release that the commit descends from, by its version.
    later   | later  | v1.9.0=one v1.10.0=two    | three | v1.10.0
    one     |        | v1.9.0=one v1.10.0=two    | other | v1.9.0
    # Compared with itself, a release would always pass.
    two     |        | v1.0.0=one v1.1.0=two     | two   | v1.0.0
    words   |        | v1.0.0=two v1.0.1=words   | two   | v1.0.0
    # Other tags and pre-releases promise nothing (Semantic Versioning 2.0.0, section 9).
    later   |        | v1=two v1.0=two v1.0.0-rc.1=two vendored=two 1.0.0=two | three | format
    # A release that is older than the first document.
    two     |        | v0.1.0=page               | two   | one
";

#[test]
fn base_is_the_last_release_or_the_merge_base() {
    let repository = history();
    let rows = BASES.lines().filter(|line| line.contains('|'));
    for row in rows {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let &[head, main, tags, present, expected] = &cells[..] else { panic!("{row}") };
        repository.git(&format!("checkout --quiet --detach {head}"));
        let no_main = "update-ref -d refs/remotes/origin/main".to_owned();
        let with_main = format!("update-ref refs/remotes/origin/main {main}");
        repository.git(&if main.is_empty() { no_main } else { with_main });
        let tags: Vec<_> = tags.split_whitespace().filter_map(|tag| tag.split_once('=')).collect();
        for (tag, commit) in &tags {
            repository.git(&format!("tag --annotate --message release {tag} {commit}"));
        }
        let expected = (!expected.is_empty()).then(|| {
            let hash = repository.hash(&format!("{expected}^{{commit}}"));
            if expected.starts_with('v') {
                format!("the release {expected} ({hash})")
            } else {
                format!("the last commit with a different document ({hash})")
            }
        });
        assert_eq!(repository.base(present), Ok(expected), "{row}");
        for (tag, _) in &tags {
            repository.git(&format!("tag --delete {tag}"));
        }
    }
}

/// Makes a repository. Each commit has a branch with its name.
///
/// ```text
/// page ─ one ─ two ─ format ─ words ─ later
///                       │        └ merged ─ removed
///                       └ half ─ side ┘
/// ```
fn history() -> Repository {
    let repository = Repository::with(&[]);
    let document = |description| described(description).to_string();
    for (parent, name, file, text) in [
        ("", "page", "page.md", "words".to_owned()),
        ("page", "one", DOCUMENT, document("one")),
        ("one", "two", DOCUMENT, document("two")),
        ("two", "format", DOCUMENT, format!("{:#}", described("two"))),
        ("format", "words", "page.md", "other words".to_owned()),
        ("words", "later", DOCUMENT, document("three")),
        ("format", "half", DOCUMENT, document("half")),
        ("half", "side", DOCUMENT, document("new")),
    ] {
        if !parent.is_empty() {
            repository.git(&format!("checkout --quiet --detach {parent}"));
        }
        repository.commit(file, &text);
        repository.git(&format!("branch {name}"));
    }
    repository.git("checkout --quiet --detach words");
    repository.git("merge --quiet --no-ff --no-edit side");
    repository.git("branch merged");
    repository.git(&format!("rm --quiet {DOCUMENT}"));
    repository.git("commit --quiet --message change");
    repository.git("branch removed");
    repository
}

/// The last release may be older than the oldest commit of a shallow clone, and a clone of a single
/// commit contains a tag only if that commit has one.
#[test]
fn shallow_history_that_may_lack_the_release_is_an_error() {
    let whole = Repository::with(&["one", "two"]);
    whole.commit("page.md", "words");
    let error = "the history is shallow and may lack the last release: run `git fetch --unshallow`";
    for depth in [1, 2] {
        whole.shallow(depth).assert_error("two", error);
    }
    let whole_again = whole.shallow(1);
    whole_again.git("fetch --quiet --unshallow");
    let hash = whole.hash("HEAD~2");
    let name = format!("the last commit with a different document ({hash})");
    assert_eq!(whole_again.base("two"), Ok(Some(name)));

    whole.git("tag v1.0.0 HEAD~1");
    whole.shallow(1).assert_error("new", error);
    let name = format!("the release v1.0.0 ({})", whole.hash("v1.0.0"));
    assert_eq!(whole.shallow(2).base("new"), Ok(Some(name)));
    // The tagged commit is compared with the release before it.
    whole.git("tag v1.1.0");
    whole.shallow(1).assert_error("two", error);
}

#[test]
fn breaking_commit_on_main_fails_unless_it_is_accepted() {
    let repository = Repository::with(&["old"]);
    let mut broken = described("old");
    let members = broken["components"]["schemas"]["NewPlant"]["properties"].as_object_mut();
    members.expect("a schema").remove("tag");
    repository.commit(DOCUMENT, &broken.to_string());
    repository.commit("README.md", "words");

    let hash = repository.hash("HEAD~2");
    let base = format!("since 1.0.0 of the last commit with a different document ({hash}): ");
    let line = "breaks wire    POST /plants  NewPlant.tag  removed: string  (optional-removed)";
    let error = "\nxtask: set `info.version` in server/src/lib.rs, then run `cargo xtask generate`; \
                 or accept the changes in openapi/accepted-changes.txt\n";
    let (printed, exit_code) = repository.compat(&[], &[]);
    assert!(printed.contains(&base) && printed.ends_with(error), "{printed}");
    assert_eq!(exit_code, Some(1));
    let (printed, exit_code) = repository.compat(&["--format", "github"], &[]);
    assert!(printed.contains(&format!("\n::error file={DOCUMENT}::{line}\n")), "{printed}");
    assert_eq!(exit_code, Some(1));

    repository.write("openapi/accepted-changes.txt", &format!("{line}  # why\n"));
    let (printed, exit_code) = repository.compat(&[], &[]);
    assert!(printed.contains(&format!("\naccepted: {line} # why\n")), "{printed}");
    assert_eq!(exit_code, Some(0));
    repository.write("openapi/accepted-changes.txt", line);
    let (printed, exit_code) = repository.compat(&[], &[]);
    assert!(printed.contains("accepted-changes.txt, line 1: "), "{printed}");
    assert_eq!(exit_code, Some(1));
}

#[test]
fn history_without_an_older_document_passes() {
    let repository = Repository::with(&[]);
    assert_eq!(repository.base("new"), Ok(None), "no commit");
    repository.commit(DOCUMENT, &described("new").to_string());
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

#[test]
fn additions_to_the_specification_break_no_consumer() {
    let specified = include_str!("../../../tests/specification.json");
    let specified = Document::parse("the specification", specified).expect("a document");
    let text = fs::read_to_string(root().join(DOCUMENT)).expect("the document is checked in");
    let published = Document::parse("the document", &text).expect("a document");
    let report = compare(specified, published);
    assert!(report.class() <= Some(Class::Additive), "{report}");
}
