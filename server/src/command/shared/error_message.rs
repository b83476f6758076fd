//! Error messages for the person who typed the command.
//!
//! The errors of the store describe what is wrong, but do not know any flags, commands or pages.
//! This module adds advice that refers to them.

use anyhow::Error;
use plant_store_store::{Incomplete, Interrupted, Reason, StoreError};

/// Formats the error with its causes, followed by advice on what to do.
#[must_use]
pub fn error_message(error: &Error) -> String {
    let advice = match error.downcast_ref() {
        _ if error.is::<Incomplete>() => INCOMPLETE,
        _ if error.is::<Interrupted>() => {
            ". To complete it, run the same command with --add: it adds what is missing"
        }
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

const DAMAGED: &str = ". Restore a backup of a damaged store, or recover what can still be read with \
    `sqlite3 FILE .recover`: see RESTORE.md";

/// Returns what to do about an error of the store.
fn advice(error: &StoreError) -> &'static str {
    match error {
        StoreError::Missing(_) => MISSING,
        StoreError::CopyUnfinished(_) => ": run the same `plant-store copy` again, with --add",
        StoreError::HasRows(_) => {
            ": to add plants to it, or to complete an interrupted copy, run the same command with \
             --add"
        }
        StoreError::HasTokens { .. } => ": to copy the plants alone, pass `--tokens none`",
        StoreError::NotAStore(_) | StoreError::Failed { reason: Reason::Damaged, .. } => DAMAGED,
        StoreError::Failed { reason: Reason::Full, .. } => ": free space on the disk",
        StoreError::Failed { reason: Reason::Untrusted, .. } => {
            ": pass the certificate of its authority with --store-ca FILE"
        }
        _ => "",
    }
}
