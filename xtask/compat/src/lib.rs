//! Compares two OpenAPI documents, and decides whom each change breaks.
//!
//! ```text
//! main        the arguments of the program
//!   → document    an OpenAPI 3.0 document in JSON or YAML
//!     → json        JSON values that know their place
//!     → read        reads the document into the model
//!       → keyword     the table of keywords
//!       → model       the document in normal form
//!   → compare     finds the changes, and the operations that each change affects
//!     → kind        the rules: each kind of change, its class and the reason
//!     → change      a change, its place, and how both are shown
//!   → report      the changes, most severe first, what is accepted, and the version they need
//!     → output      text, JSON, and annotations for GitHub
//! ```
//!
//! In this crate, a type is a schema in `components/schemas`: code generators make a type of it.
//!
//! The documents are not trusted. The time and memory are linear in their size, and [`printable`]
//! escapes all text that is printed.
//!
//! A change of an unknown keyword counts as a break, so that no change passes unnoticed.

mod change;
mod compare;
mod document;
mod json;
mod keyword;
mod kind;
mod model;
pub mod output;
mod read;
mod report;

pub use change::{Change, printable};
pub use document::Document;
pub use kind::{Class, Kind};
pub use output::Format;
pub use report::Report;

/// Compares two documents.
#[must_use]
pub fn compare(old: Document, new: Document) -> Report {
    let changes = compare::changes(&old, &new);
    Report { old, new, changes, notes: Vec::new() }
}
