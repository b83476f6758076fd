//! Compares two OpenAPI documents, and says what each change means to a consumer.
//!
//! ```text
//! main        the arguments of the program
//!   → document    an OpenAPI 3.0 document in JSON or YAML
//!     → json        its values, as they are written
//!     → read        removes every difference that means nothing
//!       → keyword     the table of keywords
//!       → model       what is left, as types
//!   → compare     what changed, and which operations each change reaches
//!     → kind        the rules: each kind of change, its class and the reason
//!   → report      the changes, most severe first, and the version that they need
//!     → change      one change, and its values as people read them
//!     → place       where a change is, in words
//!     → accepted    the file of accepted changes
//!     → output      text, JSON, and annotations for GitHub
//! ```
//!
//! The documents are not trusted. Every step takes a time that is linear in their size, and their
//! text reaches a terminal or a log only after [`printable`] has escaped it.
//!
//! A keyword without a rule breaks a client if it changes, so a kind of change that nobody thought
//! of never passes.

mod accepted;
mod change;
mod compare;
mod document;
mod json;
mod keyword;
mod kind;
mod model;
pub mod output;
mod place;
mod read;
mod report;
mod text;

pub use change::Change;
pub use document::Document;
pub use kind::{Class, Kind};
pub use output::Format;
pub use report::Report;
pub use text::printable;

/// Compares two documents by what they mean.
#[must_use]
pub fn compare(old: Document, new: Document) -> Report {
    let changes = compare::changes(&old, &new);
    Report::new(old, new, changes)
}
