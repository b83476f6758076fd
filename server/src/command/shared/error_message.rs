//! Error messages for the person who typed the command.
//!
//! The errors of the store describe what is wrong, but do not know any flags, commands or pages.
//! This module adds advice that refers to them.

use anyhow::Error;
use plant_store_store::{Reason, StoreError};

use crate::command::shared::pages::Incomplete;

/// Formats the error with its causes, followed by advice on what to do.
#[must_use]
pub fn error_message(error: &Error) -> String {
    let advice = match error.downcast_ref() {
        _ if error.is::<Incomplete>() => INCOMPLETE,
        Some(error) => advice(error),
        None => "",
    };
    format!("{error:#}{advice}")
}

const INCOMPLETE: &str =
    ". The store is damaged and plants are missing: run `plant-store check` for details";

/// The flag is only an example, because not every command has `--store`.
const MISSING: &str =
    ": name an existing store, for example with `--store sqlite:/folder/plant-store.db`";

const DAMAGED: &str = ". To repair a damaged store, move its files away and restore a backup with \
    `--tokens-of`, or recover what can still be read with `sqlite3 FILE .recover`: see RESTORE.md";

/// Returns what to do about an error of the store.
fn advice(error: &StoreError) -> &'static str {
    match error {
        StoreError::Missing(_) => MISSING,
        StoreError::CopyUnfinished(_) => ": run the same `plant-store copy` again",
        StoreError::NotAStore(_) | StoreError::Failed { reason: Reason::Damaged, .. } => DAMAGED,
        StoreError::Failed { reason: Reason::Full, .. } => ": free space on the disk",
        StoreError::Failed { reason: Reason::Untrusted, .. } => {
            ": pass the certificate of its authority with --store-ca FILE"
        }
        _ => "",
    }
}
