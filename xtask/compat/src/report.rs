//! All changes between two documents.

use crate::{Change, Class, Document};

/// All changes between two documents.
pub struct Report {
    /// The older document.
    pub old: Document,
    /// The newer document.
    pub new: Document,
    /// The changes, severest first.
    pub changes: Vec<Change>,
    /// What a person should know beside the changes.
    pub notes: Vec<String>,
}

impl Report {
    pub(crate) fn new(old: Document, new: Document, mut changes: Vec<Change>) -> Self {
        changes.sort_by(|one, other| {
            other.class.cmp(&one.class).then_with(|| one.what().cmp(&other.what()))
        });
        Self { old, new, changes, notes: Vec::new() }
    }

    /// The heaviest class of a change that was not accepted; none if nothing else changed.
    #[must_use]
    pub fn class(&self) -> Option<Class> {
        self.changes.iter().filter(|one| one.accepted.is_none()).map(|one| one.class).max()
    }

    /// The changes as they are told: one for all operations that have the same one.
    #[must_use]
    pub fn told(&self) -> Vec<Change> {
        let mut told: Vec<Change> = Vec::new();
        for change in &self.changes {
            match told.last_mut() {
                Some(last) if last.what() == change.what() && last.accepted == change.accepted => {
                    last.places.extend(change.places.iter().cloned());
                    last.operations.extend(change.operations.iter().cloned());
                }
                _ => told.push(change.clone()),
            }
        }
        told
    }
}
