//! An error, in words for the person who typed the command.
//!
//! The store says what is wrong, and knows no flag, command or page of the product. Which of them
//! help is said here.

use anyhow::Error;
use plant_store_store::{Reason, StoreError};

use crate::command::shared::pages::Incomplete;

/// The error and its causes, and what to do about them.
#[must_use]
pub fn in_words(error: &Error) -> String {
    let advice = match error.downcast_ref() {
        _ if error.is::<Incomplete>() => INCOMPLETE,
        Some(error) => advice(error),
        None => "",
    };
    format!("{error:#}{advice}")
}

const INCOMPLETE: &str =
    ", so the store is damaged, and plants are left out: `plant-store check` says more";

/// Not every command has `--store`.
const MISSING: &str =
    ": name the one that is there, such as by `--store sqlite:/folder/plant-store.db`";

const DAMAGED: &str = ". To mend a damaged store, move its files away and restore a backup with \
    `--tokens-of`, or take what can be read by `sqlite3 FILE .recover`: see RESTORE.md";

/// What to do about an error of the store.
fn advice(error: &StoreError) -> &'static str {
    match error {
        StoreError::Missing(_) => MISSING,
        StoreError::CopyUnfinished(_) => ": run the same `plant-store copy` again",
        StoreError::NotAStore(_) | StoreError::Failed { reason: Reason::Damaged, .. } => DAMAGED,
        StoreError::Failed { reason: Reason::Full, .. } => ": free space on the disk",
        StoreError::Failed { reason: Reason::Untrusted, .. } => {
            ": name the file of its authority's certificate by --store-ca FILE"
        }
        _ => "",
    }
}
