//! Small changes of a document, harmful and harmless, and every entry that the check prints.

use openapi_compat::{Document, Report, compare};
use serde_json::Value;

use crate::rows::rows;

const TABLE: &str = include_str!("mutations.txt");

/// The document that the rows change.
pub fn document() -> Value {
    serde_json::from_str(include_str!("document.json")).expect("it is JSON")
}

/// What the check says about two documents.
pub fn judged(old: &Value, new: &Value) -> Report {
    let [old, new] = [("old", old), ("new", new)]
        .map(|(name, json)| Document::parse(name, &json.to_string()).expect("a document"));
    compare(old, new)
}

/// Its entries, as the table writes them.
fn said(report: &Report) -> String {
    let told = report.told();
    let entries: Vec<String> = told
        .iter()
        .map(|one| format!("{} {}", one.class.to_string().replace("breaks ", ""), one.kind))
        .collect();
    if entries.is_empty() { "nothing".to_owned() } else { entries.join(", ") }
}

#[test]
fn every_mutation_is_said_once_with_its_class_and_kind() {
    let document = document();
    let wrong: Vec<String> = rows(TABLE)
        .filter_map(|row| {
            let [old, new] = row.documents(&document);
            let report = judged(&old, &new);
            let said = said(&report);
            (said != row.said).then(|| format!("{said} | {}\n{report}", row.edits))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
