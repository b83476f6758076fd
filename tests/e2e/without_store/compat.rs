//! The compatibility check: which version a change needs, and which documents it compares.

mod consumers;
mod history;
mod repository;

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use plant_store_chores::compat::mutations::apply;
use plant_store_chores::compat::{Class, Document, Report, compare, run};
use plant_store_launcher::build;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::without_store::contract::{self, text};

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

/// What the compatibility check says about two documents, the newer one with these edits.
fn judged(old: &Value, new: &Value) -> Report {
    let document = |name, json: &Value| Document::new(name, json.clone()).expect("a document");
    compare(&document("the older", old), &document("the newer", new))
}

#[test]
fn a_change_needs_the_version_of_its_class() {
    const BREAK: &str = "remove Plant/properties/tag";
    const ADD: &str = r#"set Plant/properties/made_up {"type": "string"}"#;
    const REWORD: &str = r#"set post/summary "Add a plant""#;

    for (edits, least, enough, too_small) in [
        (
            &[BREAK][..],
            "2.0.0",
            &["2.0.0", "2.0.0-rc.1", "2.1.3", "3.0.0"][..],
            &["1.2.3", "1.3.0", "1.9.9-rc.1"][..],
        ),
        (&[ADD], "1.3.0", &["1.3.0", "1.3.0-rc.1", "2.0.0"], &["1.2.3", "1.2.4", "1.2.9-rc.1"]),
        (&[REWORD], "1.2.3", &["1.2.3", "1.2.4", "1.2.4-rc.1", "2.0.0"], &["1.2.2", "1.2.3-rc.1"]),
        (&[], "1.2.3", &["1.2.3", "1.2.3+7", "1.2.4", "2.0.0"], &["1.2.2", "1.1.9", "0.9.0"]),
        // The heaviest counts.
        (&[REWORD, ADD], "1.3.0", &["1.3.0"], &["1.2.4"]),
        (&[REWORD, ADD, BREAK], "2.0.0", &["2.0.0"], &["1.3.0"]),
    ] {
        for old in ["1.2.3", "1.2.3+5"] {
            let old = mutated(&[&format!("set /info/version {old:?}")]);
            let passes = |version: &str| {
                let version = format!("set /info/version {version:?}");
                let report = judged(&old, &mutated(&[edits, &[&version]].concat()));
                let found = report.least_version().expect("a version").to_string();
                assert_eq!(found, least, "{edits:?}");
                report.verdict().is_ok()
            };
            for version in enough {
                assert!(passes(version), "{edits:?} as {version}");
            }
            for version in too_small {
                assert!(!passes(version), "{edits:?} as {version}");
            }
        }
    }
}

/// Semantic Versioning: it promises nothing (section 9), and is older than its release (section 11).
#[test]
fn any_change_after_a_pre_release_may_keep_its_release() {
    let old = mutated(&[r#"set /info/version "1.1.0-rc.1""#]);
    for edit in ["remove Plant/properties/tag", "set Plant/properties/made_up {}"] {
        for (version, passes) in
            [("1.1.0-rc.1", true), ("1.1.0-rc.2", true), ("1.1.0", true), ("1.0.9", false)]
        {
            let report = judged(&old, &mutated(&[edit, &format!("set /info/version {version:?}")]));
            assert_eq!(report.verdict().is_ok(), passes, "{edit} as {version}");
            assert!(report.to_string().ends_with("; a pre-release promised nothing"), "{report}");
        }
    }
}

#[test]
fn words_alone_are_reported_to_need_no_new_version() {
    let report = judged(&document(), &mutated(&["remove post/summary"]));
    let place = "#/paths/~1plants/post/summary";
    let lines =
        format!("words only  {place}  removed: Create a plant\nwords only; needs no new version");
    assert_eq!(report.to_string(), lines);
    let report = judged(&document(), &mutated(&["remove Plant/properties/tag"]));
    assert!(report.to_string().ends_with("\nbreaking; needs 2.0.0 or larger"), "{report}");
}

#[test]
fn a_document_that_cannot_be_compared_is_named_with_the_reason() {
    let reference = |name| format!(r##"{{"$ref": "#/components/schemas/{name}"}}"##);
    let looped = |schema: &str| format!("set Plant {schema}");
    let through_all_of = looped(&format!(r#"{{"allOf": [{}]}}"#, reference("Plant")));
    for (edits, reason) in [
        (&["remove /info/version"][..], "info.version is missing"),
        (&[r#"set /info/version "1.0""#], "info.version 1.0 is no semantic version"),
        (&[r#"set /openapi "3.1.0""#], "OpenAPI 3.1.0 is not supported: OpenAPI 3.0.x is expected"),
        (&["rename /openapi swagger", r#"set /swagger "2.0""#], "Swagger 2.0 is not supported: "),
        (&["remove /openapi"], "`openapi` is missing: OpenAPI 3.0.x is expected"),
        (
            &[&looped(&reference("Plant"))],
            "a `$ref` loop, or a chain of more than 100: #/components/schemas/Plant",
        ),
        (
            &[&looped(&reference("Error")), &format!("set Error {}", reference("Plant"))],
            "a `$ref` loop, or a chain of more than 100: #/components/schemas/",
        ),
        (&[&through_all_of], "a `$ref` loop"),
        (&["remove Error"], "the `$ref` `#/components/schemas/Error` leads nowhere"),
    ] {
        let failure = Document::new("this test", mutated(edits)).err().expect("no document");
        let line = format!("{failure:#}");
        assert!(line.starts_with(&format!("the document of this test: {reason}")), "{line}");
        assert_eq!(line.lines().count(), 1, "{line}");
    }
}

/// A tree is no loop: each branch is a step into a value.
#[test]
fn a_schema_that_refers_to_itself_in_a_member_is_compared() {
    let plant = r##"set Plant/properties/parent {"$ref": "#/components/schemas/Plant"}"##;
    let report = judged(&mutated(&[plant]), &mutated(&[plant, "remove Plant/required"]));
    assert_eq!(report.class(), Some(Class::Breaking), "{report}");
}

/// The contract chooses its names, and a name may be a keyword in other places.
#[test]
fn a_member_called_description_is_more_than_words() {
    for place in [
        "Plant/properties/description",
        "Plant/properties/example",
        "Plant/properties/deprecated",
        "post/responses/200/headers/description",
        "/components/schemas/title",
    ] {
        let old = mutated(&[&format!(r#"set {place} {{"type": "string"}}"#)]);
        let report = judged(&old, &document());
        assert_eq!(report.class(), Some(Class::Breaking), "{place}:\n{report}");
    }
}

/// An item of a list goes by its name, if no other item has the same name.
#[test]
fn the_order_of_names_does_not_count_and_every_other_change_does() {
    let dry = |place| json!({ "in": place, "name": "dry", "schema": { "type": "boolean" } });
    for (list, old, new, expected) in [
        ("Plant/properties/tag/enum", json!(["in", "out"]), json!(["out", "in"]), None),
        ("Plant/properties/tag/enum", json!(["description"]), json!([]), Some(Class::Breaking)),
        // A value, not names.
        (
            "Plant/properties/tag/default",
            json!(["in", "out"]),
            json!(["out", "in"]),
            Some(Class::Breaking),
        ),
        // Two items with one name.
        (
            "post/parameters",
            json!([dry("query"), dry("header")]),
            json!([dry("header")]),
            Some(Class::Breaking),
        ),
    ] {
        let [old, new] = [old, new].map(|items| mutated(&[&format!("set {list} {items}")]));
        assert_eq!(judged(&old, &new).class(), expected, "{list}");
    }
}

#[test]
fn the_command_compares_the_document_with_a_file() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("older.json");
    let against = file.to_str().expect("a path that is text");

    fs::write(&file, text()).expect("the folder takes files");
    run(Some(against)).expect("nothing changed");

    let mut older = contract::document();
    apply(r#"set Plant/properties/made_up {"type": "string"}"#, &mut older);
    fs::write(&file, older.to_string()).expect("the folder takes files");
    let failure = run(Some(against)).expect_err("a member is gone").to_string();
    assert!(failure.contains(".0.0 or larger: set VERSION"), "{failure}");

    assert!(run(Some("no-such-revision")).is_err());
}

/// The real binary of the chores, with nothing about this checkout in its environment.
fn xtask() -> Command {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    let binary =
        BINARY.get_or_init(|| build("plant-store-chores", false).expect("the program builds"));
    let mut command = Command::new(binary);
    command.env_remove("CARGO_MANIFEST_DIR");
    command
}
