//! The compatibility check: what a change of an OpenAPI document means to its consumers, and which
//! version it needs.
//!
//! ```text
//! document    whether two documents can be compared; json and yaml parse them
//!   → difference  every difference between them, one by one
//!     → usage       what requests and responses reach
//!     → class       what each difference means: breaking, additive or words only
//!     → change      how a person is told about it
//!   → version     which version that needs
//! ```
//!
//! The documents are not trusted. Each step ends within a time that grows with their size, and nothing
//! of a document reaches a terminal or a log as it is: [`printable`] escapes it.
//!
//! A difference that no rule names is breaking. So a change that nobody has thought of does not
//! pass.

mod accepted;
mod args;
mod change;
mod class;
mod difference;
mod document;
mod json;
mod place;
mod usage;
mod version;
mod yaml;

use std::fmt;

use semver::Version;

pub use accepted::Accepted;
pub use args::Args;
pub use change::{Change, printable};
pub use class::Class;
pub use document::Document;
pub use place::Place;
pub use yaml::{Position, Yaml, parse as parse_yaml};

use usage::Usage;

/// What changed, and between which versions.
pub struct Report {
    /// Every change, in the order of the places.
    pub changes: Vec<Change>,
    /// `info.version` of the older document.
    pub old: Version,
    /// `info.version` of the newer one.
    pub new: Version,
    /// What else is to be said.
    pub notes: Vec<String>,
}

/// Compares two documents by meaning.
#[must_use]
pub fn compare(old: &Document, new: &Document) -> Report {
    let usage = Usage::of(&old.json);
    let changes = difference::differences(&old.json, &new.json)
        .into_iter()
        // `verdict` compares the version with the changes; it is not a change itself.
        .filter(|difference| difference.place.kinds() != ["info", "version"])
        .map(|difference| {
            let class = class::classify(&old.json, &usage, &difference);
            Change::new(difference, class)
        })
        .collect();
    Report { changes, old: old.version.clone(), new: new.version.clone(), notes: Vec::new() }
}

impl Report {
    /// The heaviest class among the changes that are not accepted; none if there is no such change.
    #[must_use]
    pub fn class(&self) -> Option<Class> {
        self.changes
            .iter()
            .filter(|change| change.accepted.is_none())
            .map(|change| change.class)
            .max()
    }
}

/// The changes, and in the last line what they need.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.changes.iter().try_for_each(|change| writeln!(f, "{change}"))?;
        self.notes.iter().try_for_each(|note| writeln!(f, "note: {}", printable(note)))?;
        let Some(class) = self.class() else {
            let rest = if self.changes.is_empty() { "" } else { " else" };
            return write!(f, "nothing{rest} changed");
        };
        match self.least_version() {
            Ok(_) if !self.old.pre.is_empty() => {
                write!(f, "{class}; a pre-release promised nothing")
            }
            Ok(least) if class > Class::Words => write!(f, "{class}; needs {least} or larger"),
            Ok(_) => write!(f, "{class}; needs no new version"),
            Err(error) => write!(f, "{class}; {error}"),
        }
    }
}
