//! The table of small changes: reads its rows and applies them to a document.

use serde_json::{Value, json};

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
