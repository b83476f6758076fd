//! The base of the compatibility check in a real git history.

use serde_json::Value;
use xtask::checkout::DOCUMENT;

use crate::repository::{Repository, described};

/// The rows: the commit that is checked out, `origin/main`, the tags, what the present document
/// says, and the base: what it says, and the commit or the release that has it.
const BASES: &str = "
    # A branch is compared with the merge base. A change that it made and reverted was never published.
    side    | later  |                           | new   | two of format
    side    | later  |                           | other | two of format
    side    | later  |                           | two   | one of one
    # main is compared with the document before, along first parents.
    words   | words  |                           | two   | one of one
    merged  | merged |                           | new   | two of format
    # GitHub checks out a merge commit for a pull request. Its first parent is `origin/main`.
    merged  | words  |                           | new   | two of format
    # Without `origin/main`, a commit that formats or removes the document hides no change.
    format  |        |                           | two   | one of one
    format  |        |                           | other | two of format
    removed |        |                           | new   | two of format
    # No commit has an older document.
    page    | page   |                           | one   |
    one     | one    |                           | one   |
    # The base is the last release that the commit descends from, by its version.
    later   |        | v1.9.0=one v1.10.0=two    | three | two of v1.10.0
    later   | later  | v1.9.0=one v1.10.0=two    | three | two of v1.10.0
    merged  | words  | v1.0.0=words              | new   | two of v1.0.0
    one     |        | v1.9.0=one v1.10.0=two    | other | one of v1.9.0
    # Compared with itself, a release would always pass.
    one     |        | v1.0.0=one                | one   |
    two     |        | v1.0.0=one v1.1.0=two     | two   | one of v1.0.0
    words   |        | v1.0.0=two v1.0.1=words   | two   | two of v1.0.0
    # Other tags and pre-releases promise nothing (Semantic Versioning 2.0.0, section 9).
    later   |        | v0.9.0=one v1=two v1.0=two v1.0.0-rc.1=two 1.0.0=two | three | one of v0.9.0
    later   |        | v1=two v1.0=two v1.0.0-rc.1=two vendored=two 1.0.0=two | three | two of format
    # A release that is older than the first document.
    two     |        | v0.1.0=page               | two   | one of one
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
        let expected = expected.split_once(" of ").map(|(says, revision)| {
            let is_release = revision.starts_with('v');
            let what = if is_release { "release" } else { "last commit with a different document" };
            let name = if is_release { format!(" {revision}") } else { String::new() };
            let hash = repository.hash(&format!("{revision}^{{commit}}"));
            (says.to_owned(), format!("the {what}{name} ({hash})"))
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
    let formatted: Value = serde_json::from_str(&described("two")).expect("a document is JSON");
    let formatted = serde_json::to_string_pretty(&formatted).expect("a document is JSON");
    for (parent, name, file, text) in [
        ("", "page", "page.md", "words".to_owned()),
        ("page", "one", DOCUMENT, described("one")),
        ("one", "two", DOCUMENT, described("two")),
        ("two", "format", DOCUMENT, formatted),
        ("format", "words", "page.md", "other words".to_owned()),
        ("words", "later", DOCUMENT, described("three")),
        ("format", "half", DOCUMENT, described("half")),
        ("half", "side", DOCUMENT, described("new")),
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
    assert_eq!(whole_again.base("two"), Ok(Some(("one".to_owned(), name))));

    whole.git("tag v1.0.0 HEAD~1");
    whole.shallow(1).assert_error("new", error);
    let name = format!("the release v1.0.0 ({})", whole.hash("v1.0.0"));
    assert_eq!(whole.shallow(2).base("new"), Ok(Some(("two".to_owned(), name))));
    // The tagged commit is compared with the release before it.
    whole.git("tag v1.1.0");
    whole.shallow(1).assert_error("two", error);
}
