//! Where plants and token digests are kept.
//!
//! [`prepare`] and [`open`] turn a [`StoreUrl`] into an [`Engine`]; nothing outside this room knows
//! which one. [`GroupCommit`] puts the creates of all requests through the engine's one [`Writer`].
//! Nothing here knows about HTTP, and nothing here ever sees a token, only digests.

mod engine;
mod group_commit;
mod metrics;
mod sqlite;
mod url;

use std::sync::Arc;

pub use engine::{Cause, CommitError, Engine, Outcome, Snapshot, StoreError, Writer};
pub use group_commit::{CreateError, GroupCommit, WriterEnd, WriterFailed};
pub use url::{InvalidStoreUrl, StoreUrl};

/// Makes a store ready to be served. Where there is nothing, it creates an empty store, whole or
/// not at all. A store of an earlier release is brought up to date, or left as it was. Returns
/// whether this call created the store.
///
/// # Errors
///
/// After [`StoreError::Failed`] there is no store, the store as it was, or a whole new one whose
/// name is not durable yet.
pub fn prepare(url: &StoreUrl) -> Result<bool, StoreError> {
    match url {
        StoreUrl::Sqlite(path) => sqlite::prepare(path),
    }
}

/// Opens the store that is there.
///
/// # Errors
///
/// Nothing is created or changed then.
pub fn open(url: &StoreUrl) -> Result<Arc<dyn Engine>, StoreError> {
    match url {
        StoreUrl::Sqlite(path) => Ok(Arc::new(sqlite::Sqlite::open(path)?)),
    }
}
