//! Small changes of the contract, harmless and harmful, and what the compatibility check
//! must say about them.
//!
//! The end-to-end tests compare our own checks with this table. `cargo xtask conformance` compares
//! the compatibility check with oasdiff, on each row.

use anyhow::Result;
use plant_store_compat::{Document, Report, compare};
use serde_json::{Value, json};

/// Each row has two columns:
///
/// - the class that the compatibility check gives it: `wire`, `source`, `additive`, `words only`;
///   `nothing` if the meaning did not change, `refused` if it cannot compare the document;
/// - the edits. They turn the published document into the newer one. With `=>`, the left side turns
///   the published document into the older one, and the right side turns that into the newer one.
const TABLE: &str = include_str!("mutations.txt");

/// A row of the table.
pub struct Mutation {
    /// What the compatibility check is to say about the change.
    pub class: &'static str,
    /// The edits, as they are written.
    pub edits: &'static str,
}

/// Every row of the table.
pub fn mutations() -> impl Iterator<Item = Mutation> {
    rows(TABLE).map(|row| {
        let (class, edits) = row.split_once('|').expect("a row has two columns");
        Mutation { class: class.trim(), edits: edits.trim() }
    })
}

/// The lines of a table, without comments.
pub fn rows(table: &str) -> impl Iterator<Item = &str> {
    table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

impl Mutation {
    /// The older document and the newer one.
    #[must_use]
    pub fn documents(&self, published: &Value) -> [Value; 2] {
        let (before, after) = self.edits.split_once(" => ").unwrap_or(("", self.edits));
        let old = edited(before, published);
        let new = edited(after, &old);
        [old, new]
    }

    /// What the compatibility check says about it; an error if it cannot compare the two.
    pub fn report(&self, published: &Value) -> Result<Report> {
        let [old, new] = self.documents(published);
        let older = Document::parse("the older", &old.to_string())?;
        let newer = Document::parse("the newer", &new.to_string())?;
        Ok(compare(older, newer))
    }
}

fn edited(edits: &str, document: &Value) -> Value {
    let mut edited = document.clone();
    edits.split(" & ").filter(|edit| !edit.is_empty()).for_each(|edit| apply(edit, &mut edited));
    edited
}

/// Applies `remove PLACE`, `rename PLACE NAME` or `set PLACE JSON`, as JSON Patch (RFC 6902). In a
/// list, `set` inserts the item before that position. A place is a JSON pointer; `post` stands for
/// the operation, and the name of a type for its schema.
///
/// # Panics
///
/// If the document has no such place.
pub fn apply(edit: &str, document: &mut Value) {
    let (verb, rest) = edit.split_once(' ').expect("an edit has a place");
    let (place, operand) = rest.split_once(' ').unwrap_or((rest, ""));
    let place = match place.split('/').next() {
        Some("") => place.to_owned(),
        Some("post") => format!("/paths/~1plants/{place}"),
        _ => format!("/components/schemas/{place}"),
    };
    let patch = match verb {
        "remove" => json!({ "op": verb, "path": place }),
        "rename" => {
            let (parent, _) = place.rsplit_once('/').expect("a place is a pointer");
            let path = format!("{parent}/{}", operand.replace('/', "~1"));
            json!({ "op": "move", "from": place, "path": path })
        }
        "set" => {
            let value: Value = serde_json::from_str(operand).expect(edit);
            json!({ "op": "add", "path": place, "value": value })
        }
        _ => panic!("{edit}"),
    };
    let operation = serde_json::from_value(patch).expect(edit);
    json_patch::patch(document, &[operation]).expect(edit);
}
