//! Small changes of a document, from the table of the compatibility check's own tests.

#[path = "../../compat/tests/compat/rows.rs"]
mod rows;

pub use rows::{Row, apply, rows};

/// The table.
pub const TABLE: &str = include_str!("../../compat/tests/compat/mutations.txt");

/// The document that its rows change.
pub const DOCUMENT: &str = include_str!("../../compat/tests/compat/document.json");
