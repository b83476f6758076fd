//! All changes between two documents.

use crate::{Change, Class, Document};

/// All changes between two documents.
pub struct Report {
    /// The older document.
    pub old: Document,
    /// The newer document.
    pub new: Document,
    /// The changes, most severe first.
    pub changes: Vec<Change>,
    /// Notes for people, such as accepted changes that were not found.
    pub notes: Vec<String>,
}

impl Report {
    pub(crate) fn new(old: Document, new: Document, mut changes: Vec<Change>) -> Self {
        changes.sort_by(|one, other| {
            other.class.cmp(&one.class).then_with(|| one.key().cmp(&other.key()))
        });
        Self { old, new, changes, notes: Vec::new() }
    }

    /// The most severe class of a change that was not accepted; none if there is no such change.
    #[must_use]
    pub fn class(&self) -> Option<Class> {
        self.changes.iter().filter(|one| one.accepted.is_none()).map(|one| one.class).max()
    }

    /// The changes as they are printed. Equal changes of several operations or types are one.
    #[must_use]
    pub fn grouped(&self) -> Vec<Change> {
        let mut grouped: Vec<Change> = Vec::new();
        for change in &self.changes {
            match grouped.last_mut() {
                Some(last) if last.key() == change.key() && last.accepted == change.accepted => {
                    last.places.extend(change.places.iter().cloned());
                    last.operations.extend(change.operations.iter().cloned());
                }
                _ => grouped.push(change.clone()),
            }
        }
        grouped
    }
}
