//! The mutations of a document, from the tests of `openapi-compat`.

#[path = "../../compat/tests/compat/rows.rs"]
mod rows;

pub use rows::{Row, apply, rows};

/// The table of mutations.
pub const TABLE: &str = include_str!("../../compat/tests/compat/mutations.txt");

/// The document that the mutations change.
pub const DOCUMENT: &str = include_str!("../../compat/tests/compat/document.json");
