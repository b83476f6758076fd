//! The published document and the client: what the code makes, and what the specification says.

use std::fs;

use plant_store_chores::compat::DOCUMENT;
use plant_store_chores::errors::{MARKERS, between};
use plant_store_chores::generate::generated;
use plant_store_tests::facts;
use serde_json::Value;
use xtask::run::root;

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
    assert_eq!(facts(&document()), [""; 0]);
}

#[test]
fn missing_or_repeated_marker_of_generated_lines_is_named() {
    let [start, end] = ["# errors: generated from the contract\n", "# end of errors\n"];
    for text in [start, end, &[end, start].concat(), &[start, end, start, end].concat()] {
        let refused = between(MARKERS, "x", text, "new\n").expect_err(text).to_string();
        assert!(refused.starts_with("x needs one line with `errors: generated"), "{refused}");
    }
}
