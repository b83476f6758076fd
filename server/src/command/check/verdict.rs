//! What `check` says of a store, in words and as JSON.

use std::slice;

use bytesize::ByteSize;
use plant_store_store::Reason;
use serde::Serialize;

/// Whether a store is sound, and what was found.
pub enum Verdict {
    Sound(Contents),
    Unsound {
        /// What is wrong, at least one.
        faults: Vec<String>,
        /// None if the store could not be read to its end.
        contents: Option<Contents>,
    },
    /// The store cannot be checked.
    Unchecked {
        reason: Reason,
        cause: String,
    },
}

/// What is in a store that was read to its end.
#[derive(Serialize)]
pub struct Contents {
    /// Of the ids and the texts of the plants, as `copy` prints it.
    pub digest: String,
    pub plants: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store_bytes: Option<u64>,
    pub tokens: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wal_bytes: Option<u64>,
}

/// A verdict as JSON has it.
#[derive(Serialize)]
pub struct Report<'a> {
    /// Null if the store cannot be checked.
    sound: Option<bool>,
    /// Why it cannot be checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Reason>,
    faults: &'a [String],
    #[serde(flatten)]
    contents: Option<&'a Contents>,
}

impl Verdict {
    /// The verdict, to be written as JSON.
    pub fn report(&self) -> Report<'_> {
        match self {
            Self::Sound(contents) => {
                Report { sound: Some(true), reason: None, faults: &[], contents: Some(contents) }
            }
            Self::Unsound { faults, contents } => {
                Report { sound: Some(false), reason: None, faults, contents: contents.as_ref() }
            }
            Self::Unchecked { reason, cause } => Report {
                sound: None,
                reason: Some(*reason),
                faults: slice::from_ref(cause),
                contents: None,
            },
        }
    }
}

impl Contents {
    /// The contents in one line.
    pub fn in_words(&self) -> String {
        let size_of = |name, bytes: Option<u64>| match bytes {
            Some(bytes) => format!(", {name}: {}", ByteSize(bytes)),
            None => String::new(),
        };
        format!(
            "plants: {}, tokens: {}{}{}, digest: {}",
            self.plants,
            self.tokens,
            size_of("size", self.store_bytes),
            size_of("WAL", self.wal_bytes),
            self.digest
        )
    }
}
