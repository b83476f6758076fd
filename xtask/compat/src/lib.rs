//! The compatibility check: what a change of an OpenAPI document means to its consumers.
//!
//! ```text
//! args        what the program is asked for
//!   → document    whether a document can be compared: OpenAPI 3.0 in JSON or YAML
//!     → normalise   the document in one spelling
//!   → compare     what changed between two models, and which operations that reaches
//!     → kind        the rules: each kind of change, its class and the reason
//!   → report      the changes, severest first
//!     → change      one of them, and how a person is told about it
//!     → place       where it is, as a JSON pointer and in words
//!     → accepted    which of them were decided on
//!     → output      what is printed: text, JSON, annotations for GitHub
//! ```
//!
//! Which version a change needs is not decided here: that is a question of the repository that owns
//! the document.
//!
//! The documents are not trusted. Each step ends within a time that grows with their size, and
//! nothing of a document reaches a terminal or a log as it is: [`printable`] escapes it.
//!
//! A keyword that the check does not know breaks a client if it changes. So a change that nobody
//! has thought of does not pass.

mod accepted;
mod args;
mod change;
mod class;
mod compare;
mod document;
mod json;
mod kind;
mod normalise;
pub mod output;
mod place;
mod pointer;
mod report;

pub use args::{Args, Format};
pub use change::{Change, Shown, printable};
pub use class::Class;
pub use document::Document;
pub use kind::Kind;
pub use report::Report;

/// Compares two documents by meaning.
#[must_use]
pub fn compare(old: Document, new: Document) -> Report {
    let changes = compare::changes(&old, &new);
    Report::new(old, new, changes)
}
