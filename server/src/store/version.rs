//! The versions of the schema. They are the same in every engine, because a store may move between
//! them.

use crate::store::error::StoreError;
use crate::store::url::StoreUrl;

/// The version that this release reads and writes.
pub const VERSION: u32 = 2;

/// Refuses a store that a newer release has written.
pub fn check_known(found: u32, url: &StoreUrl) -> Result<(), StoreError> {
    match found <= VERSION {
        true => Ok(()),
        false => Err(StoreError::NewerSchema { url: url.clone(), found, known: VERSION }),
    }
}

/// Refuses a store that this release cannot read: a later one, or one whose tables were never made.
pub fn check_readable(found: u32, url: &StoreUrl) -> Result<(), StoreError> {
    match found {
        0 => check_present(found, url),
        _ => check_known(found, url),
    }
}

/// Refuses a store of any other version.
pub fn check_present(found: u32, url: &StoreUrl) -> Result<(), StoreError> {
    check_known(found, url)?;
    match found == VERSION {
        true => Ok(()),
        false => Err(StoreError::OlderSchema { url: url.clone(), found, needed: VERSION }),
    }
}
