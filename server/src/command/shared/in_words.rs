//! An error, in words for the person who typed the command.
//!
//! The store says what is wrong, and knows no flag, command or page of the product. Which of them
//! help is said here.

use anyhow::Error;
use plant_store_store::{Reason, StoreError};

/// The error and its causes, and what to do about them.
#[must_use]
pub fn in_words(error: &Error) -> String {
    let advice = error.downcast_ref().map_or("", advice);
    format!("{error:#}{advice}")
}

/// Not every command has `--store`.
const MISSING: &str =
    ": name the one that is there, such as by `--store sqlite:/folder/plant-store.db`";

/// What to do about an error of the store.
fn advice(error: &StoreError) -> &'static str {
    match error {
        StoreError::Missing(_) => MISSING,
        StoreError::RestoreUnfinished(_) => ": run the same `plant-store restore` again",
        StoreError::FillUnfinished(_) => {
            ": run the same `plant-store copy` or `plant-store restore` again"
        }
        StoreError::NotAPlantStore(_) => {
            ". If it was one, it is damaged: `plant-store restore` takes a sound backup"
        }
        StoreError::Failed { reason: Reason::Damaged, .. } => {
            ": `plant-store copy --damaged` takes what can be read"
        }
        StoreError::Failed { reason: Reason::Full, .. } => {
            ": free space on the disk, or copy the store to another one by `plant-store copy`"
        }
        StoreError::Failed { reason: Reason::Untrusted, .. } => {
            ": name the file of its authority's certificate by --store-ca FILE"
        }
        StoreError::Failed { reason: Reason::Unsafe, .. } => ", or serve with --without-fsync",
        _ => "",
    }
}
