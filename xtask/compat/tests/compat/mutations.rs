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
    let entries: Vec<String> = report
        .changes
        .iter()
        .map(|one| format!("{} {}", one.class.to_string().replace("breaks ", ""), one.kind))
        .collect();
    if entries.is_empty() { "nothing".to_owned() } else { entries.join(", ") }
}

#[test]
fn every_mutation_is_reported_with_its_class_and_kind() {
    let document = document();
    let wrong: Vec<String> = rows(TABLE)
        .filter_map(|row| {
            let [old, new] = row.documents(&document);
            let report = judged(&old, &new);
            let found = found(&report);
            (found != row.expected).then(|| format!("{found} | {}\n{report}", row.edits))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
