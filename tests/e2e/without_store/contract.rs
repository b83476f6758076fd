//! The published document and the client: what the code makes, and what the specification says.

use std::fs;

use plant_store_chores::compat::mutations::apply;
use plant_store_chores::errors::{Errors, MARKERS, TABLE, between};
use plant_store_chores::generate::generated;
use plant_store_tests::deviations;
use serde_json::Value;
use xtask::checkout::{DOCUMENT, root};

/// The checked-in document, as text.
pub fn text() -> String {
    fs::read_to_string(root().join(DOCUMENT)).expect("the document is checked in")
}

/// The checked-in document.
pub fn document() -> Value {
    serde_json::from_str(&text()).expect("the document is JSON")
}

/// The golden files; `EXPECTORATE=overwrite` writes them, as `cargo xtask generate` does.
#[test]
fn checked_in_document_and_client_are_what_the_code_generates() {
    for file in generated().expect("the code makes a document and a client") {
        expectorate::assert_contents(root().join(file.path), &file.text);
    }
}

#[test]
fn document_states_every_fact_of_the_specification() {
    let found = deviations(&document());
    let advice = "correct the document, or tests/src/facts.rs if the specification has changed";
    assert!(found.is_empty(), "{advice}:\n{}", found.join("\n"));
}

#[test]
fn missing_or_repeated_marker_of_generated_lines_is_named() {
    let [start, end] = ["# errors: generated from the contract\n", "# end of errors\n"];
    for text in [start, end, &[end, start].concat(), &[start, end, start, end].concat()] {
        let refused = between(MARKERS, "x", text, "new\n").expect_err(text).to_string();
        assert!(refused.starts_with("x needs one line with `errors: generated"), "{refused}");
    }
}

fn edited(edits: &[&str]) -> Value {
    let mut document = document();
    for edit in edits {
        apply(edit, &mut document);
    }
    document
}

/// The table of errors belongs to all operations.
#[test]
fn table_of_errors_is_the_same_under_another_path_and_with_a_second_operation() {
    let table = |edits: &[&str]| Errors::of(&edited(edits)).expect("a table").lines(&TABLE);
    let published = table(&[]);
    assert_eq!(table(&["rename /paths/~1plants /pots"]), published);
    let second = r#"set /paths/~1a {"parameters": [], "get": {"responses": {"400": {"content": {
        "application/json": {"examples": {"a": {"value": {"error": 426, "message": "no plant"}}}}
    }}}}}"#;
    let row = "set Error/properties/error/x-error-codes/0 \
               {\"error\": 426, \"meaning\": \"no plant has the id\", \"retryable\": false}";
    let with_both = table(&[second, row]);
    let expected = "| 426 | no plant has the id | no plant | no |\n";
    assert!(with_both.contains(expected), "{with_both}");
    assert_eq!(with_both.replace(expected, ""), published);
}

#[test]
fn value_of_error_that_lacks_something_is_named_with_what_it_lacks() {
    let codes = "Error/properties/error/x-error-codes";
    let document = document();
    let error = &document["components"]["schemas"]["Error"]["properties"]["error"];
    let rows = error["x-error-codes"].as_array().expect("a list");
    let conflict = rows.iter().position(|row| row["error"] == 409).expect("a row");
    let row = format!("{codes}/{conflict}");
    for (edit, reason) in [
        (&format!("set {row}/error 426")[..], "has an example of `error` 426: server/api/src/"),
        (&format!("remove {row}/meaning"), "the row of 409 lacks `meaning`"),
        (&format!("remove {row}/retryable"), "the row of 409 lacks `retryable`"),
        (&format!("set {row}/error 499"), "499 is no status code with a name in RFC 9110"),
        (&format!("set {row}/error \"a\""), "`error` of a row is no status code"),
        (&format!("remove {codes}"), "`Error.error` has no x-error-codes"),
    ] {
        let refused = Errors::of(&edited(&[edit])).err().expect(edit).to_string();
        assert!(refused.contains(reason), "{refused}");
    }
}
