//! Where to read what to do about a store that is damaged or on a full disk.

use anyhow::Error;
use plant_store_store::{Reason, StoreError, StoreUrl};

/// Which store it is, and where to read what to do.
#[derive(Debug, thiserror::Error)]
#[error("{0} (server/RESTORE.md#rescue says what to do)")]
struct SeeRescue(StoreUrl);

/// Adds the advice to an error of a store that is damaged or on a full disk, unless the error says
/// that already.
pub fn with_rescue_advice<E: Into<Error>>(url: &StoreUrl) -> impl Fn(E) -> Error {
    move |cause| {
        let error = cause.into();
        match error.downcast_ref() {
            Some(StoreError::Failed { reason: Reason::Damaged | Reason::Full, .. })
                if !error.is::<SeeRescue>() =>
            {
                error.context(SeeRescue(url.absolute()))
            }
            _ => error,
        }
    }
}
