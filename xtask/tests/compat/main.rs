//! Tests of the compatibility check of this repository: which version a change needs, and which
//! documents are compared. The tests in `xtask/compat` cover the classes of the changes.

mod history;
mod releases;
mod repository;

use std::fs;

use serde_json::{Value, json};
use xtask::checkout::{DOCUMENT, root};
use xtask::compat::mutations::apply;
use xtask::compat::{Class, Document, Report, compare, version};

/// Returns the checked-in document as text.
fn text() -> String {
    fs::read_to_string(root().join(DOCUMENT)).expect("the document is checked in")
}

/// Returns the checked-in document with the version 1.0.0, so that these tests do not depend on its
/// version.
fn document() -> Value {
    let mut document: Value = serde_json::from_str(&text()).expect("the document is JSON");
    document["info"]["version"] = json!("1.0.0");
    document
}

fn mutated(edits: &[&str]) -> Value {
    let mut document = document();
    for edit in edits {
        apply(edit, &mut document);
    }
    document
}

/// Compares the document as version `old` with an edited document as version `new`.
fn judge(old: &str, new: &str, edits: &[&str]) -> Report {
    let document = |version: &str, edits: &[&str]| {
        let version = format!("set /info/version {version:?}");
        let json = mutated(&[edits, &[&version]].concat());
        Document::parse("this test", &json.to_string()).expect("a document")
    };
    compare(document(old, &[]), document(new, edits))
}

const BREAK: &str = "remove NewPlant/properties/tag";
const BREAK_SOURCE: &str = r#"set /paths/~1plants/post/operationId "add""#;
const ADD: &str = r#"set Plant/properties/made_up {"type": "string"}"#;
const REWORD: &str = r#"set /paths/~1plants/post/summary "Add a plant""#;

#[test]
fn change_needs_the_version_of_its_class() {
    for (edits, least, enough, too_small) in [
        (&[BREAK][..], "2.0.0", "2.0.0 2.0.0-rc.1 2.1.3 3.0.0", "1.2.3 1.3.0 1.9.9-rc.1"),
        (&[BREAK_SOURCE], "2.0.0", "2.0.0 2.0.0-rc.1", "1.2.3 1.3.0"),
        (&[ADD], "1.3.0", "1.3.0 1.3.0-rc.1 2.0.0", "1.2.3 1.2.4 1.2.9-rc.1"),
        (&[REWORD], "1.2.3", "1.2.3 1.2.4 1.2.4-rc.1 2.0.0", "1.2.2 1.2.3-rc.1"),
        (&[], "1.2.3", "1.2.3 1.2.3+7 1.2.4 2.0.0", "1.2.2 1.1.9 0.9.0"),
        // The most severe class decides.
        (&[REWORD, ADD], "1.3.0", "1.3.0", "1.2.4"),
        (&[REWORD, ADD, BREAK], "2.0.0", "2.0.0", "1.3.0"),
    ] {
        for (versions, passes) in [(enough, true), (too_small, false)] {
            for version in versions.split(' ') {
                for old in ["1.2.3", "1.2.3+5"] {
                    let report = judge(old, version, edits);
                    let found = version::least(&report).expect("a version").to_string();
                    assert_eq!(found, least, "{edits:?}");
                    assert_eq!(version::verdict(&report).is_ok(), passes, "{edits:?} as {version}");
                }
            }
        }
    }
}

/// A pre-release promises nothing (Semantic Versioning 2.0.0, section 9), and precedes its release
/// (section 11).
#[test]
fn change_after_a_pre_release_may_keep_the_version() {
    for edit in [BREAK, ADD] {
        for (version, passes) in
            [("1.1.0-rc.1", true), ("1.1.0-rc.2", true), ("1.1.0", true), ("1.0.9", false)]
        {
            let report = judge("1.1.0-rc.1", version, &[edit]);
            assert_eq!(version::verdict(&report).is_ok(), passes, "{edit} as {version}");
        }
    }
}

/// Only this repository requires semantic versions, not `openapi-compat`.
#[test]
fn version_that_is_not_semantic_is_an_error() {
    let report = judge("1.0.0", "20240502.0", &[]);
    let refused = version::verdict(&report).expect_err("no version").to_string();
    assert_eq!(refused, "info.version 20240502.0 of this test is not a semantic version");
}

#[test]
fn additions_to_the_specification_break_no_consumer() {
    let specified = include_str!("../../../tests/specification.json");
    let specified = Document::parse("the specification", specified).expect("a document");
    let published = Document::parse("the document", &text()).expect("a document");
    let report = compare(specified, published);
    assert!(report.class() <= Some(Class::Additive), "{report}");
}
