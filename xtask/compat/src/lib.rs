//! The compatibility check: what a change of an OpenAPI document means to its consumers, and which
//! version it needs.
//!
//! ```text
//! document    whether two documents can be compared; json parses them
//!   → difference  every difference between them, one by one
//!     → usage       what requests and responses reach
//!     → case        what each difference means, by the table of rules.md
//!       → limit       which of two limits allows more
//!     → change      how a person is told about it
//!   → Report      which version that needs, by Semantic Versioning 2.0.0
//! ```
//!
//! All of them find values by `place`, `members` and `reference`.
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
mod difference;
mod document;
mod json;
mod limit;
mod members;
pub mod output;
mod place;
mod reference;
mod usage;

use std::cmp::Ordering::Less;
use std::fmt;

use anyhow::{Result, ensure};
use semver::{Prerelease, Version};

pub use args::{Args, Format};
pub use change::{Change, printable};
pub use class::Class;
pub use document::Document;
pub use place::Place;

use case::Case;
use usage::Usage;

/// What changed between two documents.
pub struct Report {
    /// Every change, in the order of the places.
    pub changes: Vec<Change>,
    /// The older document, that of the consumer.
    pub old: Document,
    /// The newer one.
    pub new: Document,
    /// What else is to be said.
    pub notes: Vec<String>,
}

/// Compares two documents by meaning.
#[must_use]
pub fn compare(old: Document, new: Document) -> Report {
    let old_usage = &Usage::of(&old.json);
    let new_usage = &Usage::of(&new.json);
    let changes = difference::differences(&old.json, &new.json)
        .into_iter()
        // `verdict` compares the version with the changes; it is not a change itself.
        .filter(|difference| difference.place.kinds() != ["info", "version"])
        .map(|difference| {
            let uses = old_usage.at(&difference.at);
            let case = Case { old_usage, new_usage, difference: &difference, sides: uses.sides };
            let rule = case.rule();
            Change::new(difference, rule, uses.composition.as_deref())
        })
        .collect();
    Report { changes, old, new, notes: Vec::new() }
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

    /// The least version that the newer document may have.
    ///
    /// A pre-release promises nothing (section 9), so any change after it may keep its version.
    #[must_use]
    pub fn least_version(&self) -> Version {
        let old = &self.old.version;
        match self.class() {
            _ if !old.pre.is_empty() => old.clone(),
            Some(Class::Source | Class::Wire) => Version::new(old.major.saturating_add(1), 0, 0),
            Some(Class::Additive) => Version::new(old.major, old.minor.saturating_add(1), 0),
            Some(Class::Words) | None => Version::new(old.major, old.minor, old.patch),
        }
    }

    /// What the changes need, in a line.
    #[must_use]
    pub fn need(&self) -> String {
        match self.class() {
            Some(class) => format!("{class}; needs {} or larger", self.least_version()),
            None if self.changes.is_empty() => "nothing changed".to_owned(),
            None => "nothing else changed".to_owned(),
        }
    }

    /// Fails if the newer version is smaller than the least one, or than the older one.
    ///
    /// A newer pre-release counts as the release that follows it: 2.0.0-rc.1 may break what 1.0.0
    /// promised. But it is older than that release (section 11). Build metadata does not count
    /// (section 10).
    pub fn verdict(&self) -> Result<()> {
        let old = &self.old.version;
        let new = &self.new.version;
        let least = self.least_version();
        let release = Version { pre: Prerelease::EMPTY, ..new.clone() };
        ensure!(
            new.cmp_precedence(old) != Less && release.cmp_precedence(&least) != Less,
            "info.version is {new}, was {old}, and must be {least} or larger: set VERSION in \
             server/api/src/document.rs, then run `cargo xtask generate`"
        );
        Ok(())
    }
}

/// Says where each change is in one of the two documents, given by its text, too. What the document
/// does not have has the position of the nearest value around it.
pub fn locate(changes: &mut [Change], document: &Document, text: &str) {
    let paths = changes.iter().map(|change| change.place.path(&document.json));
    let positions = json::positions(text, &paths.collect::<Vec<_>>());
    for (change, position) in changes.iter_mut().zip(positions) {
        change.line = position.line;
        change.column = position.column;
    }
}

/// A line for each change and each note.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.changes.iter().try_for_each(|change| writeln!(f, "{change}"))?;
        self.notes.iter().try_for_each(|note| writeln!(f, "note: {}", printable(note)))
    }
}
