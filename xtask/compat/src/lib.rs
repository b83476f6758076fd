//! The compatibility check: what a change of an OpenAPI document means to its consumers.
//!
//! ```text
//! args        what the program is asked for
//!   → document    whether two documents can be compared; json parses them
//!   → difference  every difference between them, one by one; kind: added, changed or removed
//!     → usage       what requests and responses reach
//!     → case        the first rule that fits each difference
//!       → rules       the rules, parsed from rules.md: each gives a class for some conditions
//!       → limit       which of two limits allows more
//!     → change      how a person is told about it
//!   → report      all changes, and the heaviest class among them
//!     → accepted    which of them were decided on
//!     → output      what is printed: text, a changelog, JSON, annotations for GitHub
//! ```
//!
//! All of them find values by `place`, `members` and `reference`. Which version a change needs is
//! not decided here: that is a question of the repository that owns the document.
//!
//! The documents are not trusted. Each step ends within a time that grows with their size, and
//! nothing of a document reaches a terminal or a log as it is: [`printable`] escapes it.
//!
//! A difference that no rule names breaks a client. So a change that nobody has thought of does not
//! pass.

mod accepted;
mod args;
mod case;
mod change;
mod class;
mod condition;
mod difference;
mod document;
mod json;
mod kind;
mod limit;
mod members;
pub mod output;
mod place;
mod reference;
mod report;
mod rules;
mod usage;

pub use args::{Args, Format};
pub use change::{Change, printable};
pub use class::Class;
pub use document::Document;
pub use json::Position;
pub use kind::Kind;
pub use place::Place;
pub use report::{Report, locate};

use case::Case;
use usage::Usage;

/// Compares two documents by meaning.
#[must_use]
pub fn compare(old: Document, new: Document) -> Report {
    let old_usage = &Usage::of(&old.json);
    let new_usage = &Usage::of(&new.json);
    let changes = difference::differences(&old.json, &new.json)
        .into_iter()
        // The version says what the changes mean; it is not a change itself.
        .filter(|difference| difference.place.kinds() != ["info", "version"])
        .map(|difference| {
            let uses = old_usage.at(&difference.place_in_old);
            let case = Case { old_usage, new_usage, difference: &difference, users: uses.users };
            let rule = case.rule();
            Change::new(difference, rule, uses.composition.as_deref())
        })
        .collect();
    Report { changes, old, new, notes: Vec::new() }
}
