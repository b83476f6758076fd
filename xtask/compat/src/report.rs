//! What changed between two documents, and how heavy it is.

use std::fmt;

use crate::change::{Change, printable};
use crate::class::Class;
use crate::document::Document;
use crate::json;

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

/// Sets the position of each change in one of the two documents, which is given by its text, too. A
/// value that the document does not have gets the position of the nearest value around it.
pub fn locate(changes: &mut [Change], document: &Document, text: &str) {
    let paths = changes.iter().map(|change| change.place.path(&document.json));
    let positions = json::positions(text, &paths.collect::<Vec<_>>());
    for (change, position) in changes.iter_mut().zip(positions) {
        change.position = Some(position);
    }
}

/// A line for each change and each note.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.changes.iter().try_for_each(|change| writeln!(f, "{change}"))?;
        self.notes.iter().try_for_each(|note| writeln!(f, "note: {}", printable(note)))
    }
}
