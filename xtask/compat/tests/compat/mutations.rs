//! Small edits of a document, harmful and harmless, with all changes that the check reports.

use openapi_compat::{Document, Report, compare};
use serde_json::Value;

use crate::rows::rows;

const TABLE: &str = include_str!("mutations.txt");

/// The document that the rows edit.
pub fn document() -> Value {
    serde_json::from_str(include_str!("document.json")).expect("it is JSON")
}

/// Compares two documents.
pub fn judged(old: &Value, new: &Value) -> Report {
    let [old, new] = [("old", old), ("new", new)]
        .map(|(name, json)| Document::parse(name, &json.to_string()).expect("a document"));
    compare(old, new)
}

/// The changes in the format of the table.
fn found(report: &Report) -> String {
    let changes = report.grouped();
    let entries: Vec<String> = changes
        .iter()
        .map(|one| format!("{} {}", one.class.to_string().replace("breaks ", ""), one.kind))
        .collect();
    if entries.is_empty() { "nothing".to_owned() } else { entries.join(", ") }
}

/// Asserts that each place is a JSON Pointer that resolves in one of the documents.
fn assert_places_resolve(report: &Report, old: &Value, new: &Value) {
    for place in report.changes.iter().flat_map(|change| &change.places) {
        let pointer = place.strip_prefix('#').expect("a pointer in a URL");
        assert!(old.pointer(pointer).or_else(|| new.pointer(pointer)).is_some(), "{place}");
    }
}

#[test]
fn every_mutation_is_reported_with_its_class_and_kind() {
    let document = document();
    let wrong: Vec<String> = rows(TABLE)
        .filter_map(|row| {
            let [old, new] = row.documents(&document);
            let report = judged(&old, &new);
            assert_places_resolve(&report, &old, &new);
            let found = found(&report);
            (found != row.expected).then(|| format!("{found} | {}\n{report}", row.edits))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
