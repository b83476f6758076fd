//! Tests of the compatibility check of this repository: which documents are compared. The tests in
//! `xtask/compat` cover the changes, and which version they need.

mod history;
mod program;
mod repository;

use std::fs;

use openapi_compat::{Class, Document, compare};
use serde_json::{Value, json};
use xtask::checkout::{DOCUMENT, root};

/// Returns the checked-in document as text.
fn text() -> String {
    fs::read_to_string(root().join(DOCUMENT)).expect("the document is checked in")
}

/// A place of the document, and the value that it gets, as JSON; none if the place is removed.
type Edit<'a> = (&'a str, Option<&'a str>);

/// Returns the checked-in document with the version 1.0.0, so that these tests do not depend on its
/// version, and with these edits.
fn mutated(edits: &[Edit<'_>]) -> Value {
    let mut document: Value = serde_json::from_str(&text()).expect("the document is JSON");
    document["info"]["version"] = json!("1.0.0");
    for (place, value) in edits {
        let (parent, name) = place.rsplit_once('/').expect("a place is a pointer");
        let parent = document.pointer_mut(parent).expect("the place is in the document");
        match value {
            Some(value) => parent[name] = serde_json::from_str(value).expect("JSON"),
            None => drop(parent.as_object_mut().expect("an object").remove(name)),
        }
    }
    document
}

const BREAK: Edit<'_> = ("/components/schemas/NewPlant/properties/tag", None);

#[test]
fn additions_to_the_specification_break_no_consumer() {
    let specified = include_str!("../../../tests/specification.json");
    let specified = Document::parse("the specification", specified).expect("a document");
    let published = Document::parse("the document", &text()).expect("a document");
    let report = compare(specified, published);
    assert!(report.class() <= Some(Class::Additive), "{report}");
}
