//! Tables of small edits of a document, harmful and harmless, with all changes that the check
//! reports.

use openapi_compat::{Document, Report, compare};
use serde_json::{Value, json};

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

/// A row of a table.
pub struct Row<'a> {
    /// The expected changes, or `nothing`.
    pub expected: &'a str,
    /// The edits as they are written.
    pub edits: &'a str,
}

/// Reads the rows `EXPECTED | EDITS` of a table. Empty lines and comments are skipped.
pub fn rows(table: &str) -> impl Iterator<Item = Row<'_>> {
    let rows = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    rows.map(|row| {
        let (expected, edits) = row.split_once('|').expect("a row has two columns");
        Row { expected: expected.trim(), edits: edits.trim() }
    })
}

impl Row<'_> {
    /// Returns the older and the newer document. Edits before ` => ` make the older one.
    pub fn documents(&self, document: &Value) -> [Value; 2] {
        let (before, after) = self.edits.split_once(" => ").unwrap_or(("", self.edits));
        let old = edited(before, document);
        let new = edited(after, &old);
        [old, new]
    }
}

fn edited(edits: &str, document: &Value) -> Value {
    let mut edited = document.clone();
    edits.split(" & ").filter(|edit| !edit.is_empty()).for_each(|edit| apply(edit, &mut edited));
    edited
}

/// Applies `remove PLACE`, `rename PLACE NAME`, `swap PLACE PLACE` or `set PLACE JSON` as a JSON
/// Patch (RFC 6902). In a list, `set` inserts the item before the position. A place is a JSON
/// pointer; `post`, `get` and `put` stand for operations, and the name of a type stands for its
/// schema.
///
/// # Panics
///
/// If the document has no such place.
pub fn apply(edit: &str, document: &mut Value) {
    let (verb, rest) = edit.split_once(' ').expect("an edit has a place");
    let (place, operand) = rest.split_once(' ').unwrap_or((rest, ""));
    let pointer = |place: &str| match place.split('/').next() {
        Some("") => place.to_owned(),
        Some("post" | "get") => format!("/paths/~1books/{place}"),
        Some("put") => format!("/paths/~1shapes/{place}"),
        _ => format!("/components/schemas/{place}"),
    };
    let place = pointer(place);
    let patch = match verb {
        "remove" => json!([{ "op": verb, "path": place }]),
        "rename" => {
            let (parent, _) = place.rsplit_once('/').expect("a place is a pointer");
            let path = format!("{parent}/{}", operand.replace('/', "~1"));
            json!([{ "op": "move", "from": place, "path": path }])
        }
        "swap" => {
            let [one, other] =
                [&place, &pointer(operand)].map(|at| document.pointer(at).expect(edit));
            json!([
                { "op": "replace", "path": place, "value": other },
                { "op": "replace", "path": pointer(operand), "value": one },
            ])
        }
        "set" => {
            let value: Value = serde_json::from_str(operand).expect(edit);
            json!([{ "op": "add", "path": place, "value": value }])
        }
        _ => panic!("{edit}"),
    };
    let patch: json_patch::Patch = serde_json::from_value(patch).expect(edit);
    json_patch::patch(document, &patch).expect(edit);
}
