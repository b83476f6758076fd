//! The compatibility check: which version a change needs, and which documents it compares. What
//! each change means is in the table of `mutations`.

mod consumers;
mod history;
mod program;
mod releases;
mod repository;
mod untrusted;

use plant_store_chores::compat::mutations::apply;
use plant_store_chores::compat::{Document, Report, compare, version};
use serde_json::{Value, json};

use crate::without_store::contract;

/// The checked-in document as version 1.0.0, so that a new version changes no test of this module.
fn document() -> Value {
    let mut document = contract::document();
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

/// What the compatibility check says about two documents with these versions, the newer one with
/// these edits.
fn judged(old: &str, new: &str, edits: &[&str]) -> Report {
    let document = |version: &str, edits: &[&str]| {
        let version = format!("set /info/version {version:?}");
        let json = mutated(&[edits, &[&version]].concat());
        Document::parse("this test", &json.to_string()).expect("a document")
    };
    compare(document(old, &[]), document(new, edits))
}

const BREAK: &str = "remove Plant/properties/tag";
const BREAK_SOURCE: &str = r#"set post/operationId "add""#;
const ADD: &str = r#"set Plant/properties/made_up {"type": "string"}"#;
const REWORD: &str = r#"set post/summary "Add a plant""#;

#[test]
fn a_change_needs_the_version_of_its_class() {
    for (edits, least, enough, too_small) in [
        (&[BREAK][..], "2.0.0", "2.0.0 2.0.0-rc.1 2.1.3 3.0.0", "1.2.3 1.3.0 1.9.9-rc.1"),
        (&[BREAK_SOURCE], "2.0.0", "2.0.0 2.0.0-rc.1", "1.2.3 1.3.0"),
        (&[ADD], "1.3.0", "1.3.0 1.3.0-rc.1 2.0.0", "1.2.3 1.2.4 1.2.9-rc.1"),
        (&[REWORD], "1.2.3", "1.2.3 1.2.4 1.2.4-rc.1 2.0.0", "1.2.2 1.2.3-rc.1"),
        (&[], "1.2.3", "1.2.3 1.2.3+7 1.2.4 2.0.0", "1.2.2 1.1.9 0.9.0"),
        // The heaviest counts.
        (&[REWORD, ADD], "1.3.0", "1.3.0", "1.2.4"),
        (&[REWORD, ADD, BREAK], "2.0.0", "2.0.0", "1.3.0"),
    ] {
        for (versions, passes) in [(enough, true), (too_small, false)] {
            for version in versions.split(' ') {
                for old in ["1.2.3", "1.2.3+5"] {
                    let report = judged(old, version, edits);
                    let found = version::least(&report).to_string();
                    assert_eq!(found, least, "{edits:?}");
                    assert_eq!(version::verdict(&report).is_ok(), passes, "{edits:?} as {version}");
                }
            }
        }
    }
}

/// Semantic Versioning: it promises nothing (section 9), and is older than its release (section
/// 11).
#[test]
fn any_change_after_a_pre_release_may_keep_its_release() {
    for edit in [BREAK, ADD] {
        for (version, passes) in
            [("1.1.0-rc.1", true), ("1.1.0-rc.2", true), ("1.1.0", true), ("1.0.9", false)]
        {
            let report = judged("1.1.0-rc.1", version, &[edit]);
            assert_eq!(version::verdict(&report).is_ok(), passes, "{edit} as {version}");
        }
    }
}

#[test]
fn a_document_that_cannot_be_compared_is_named_with_the_reason() {
    for (edits, reason) in [
        (&["remove /info/version"][..], "info.version is missing"),
        (&[r#"set /info/version "1.0""#], "info.version 1.0 is no semantic version"),
        (&[r#"set /openapi "3.1.0""#], "OpenAPI 3.1.0 is not supported: OpenAPI 3.0.x is expected"),
        (&["remove /openapi"], "`openapi` is missing: OpenAPI 3.0.x is expected"),
        (&["remove Error"], "the `$ref` `#/components/schemas/Error` leads nowhere"),
    ] {
        let failure =
            Document::parse("this test", &mutated(edits).to_string()).err().expect("no document");
        let line = format!("{failure:#}");
        assert!(line.starts_with(&format!("the document of this test: {reason}")), "{line}");
        assert_eq!(line.lines().count(), 1, "{line}");
    }
}
