//! Where plants and token digests are kept.
//!
//! [`serve`], [`open`] and [`begin`] turn a [`StoreUrl`] into an
//! [`Engine`] or a [`NewStore`]; nothing outside this room knows
//! which one. [`GroupCommit`] puts the creates of all requests through the engine's one [`Writer`].
//! Nothing here knows about HTTP, and nothing here ever sees a token, only digests.

mod batch;
mod engine;
mod group_commit;
mod metrics;
mod postgres;
mod running_commit;
mod sqlite;
mod tally;
mod tend;
mod url;

use std::sync::Arc;

pub use batch::{CreateError, Held};
pub use engine::{
    Cause, CommitError, Contents, Engine, NewStore, Outcome, Pages, Sizes, Start, StoreError,
    Writer,
};
pub use group_commit::{CreateLimits, GroupCommit, StoreLost, WriterEnd};
pub use tally::Tally;
pub use tend::tend;
pub use url::{InvalidStoreUrl, StoreUrl};

/// Opens the store to be served. A file is served by this process alone; a database need not be
/// there yet. A store of an earlier release is brought up to date, or left as it was. Where there
/// is no store and `start` says so, an empty one is created, whole or not at all; at the latest by
/// [`Engine::set_up`].
///
/// # Errors
///
/// There is no store then, the store as it was, or a whole new one whose name is not durable yet.
pub fn serve(url: &StoreUrl, start: Start) -> Result<Arc<dyn Engine>, StoreError> {
    Ok(match url {
        StoreUrl::Sqlite(path) => Arc::new(sqlite::serve(path, start)?),
        StoreUrl::Postgres(url) => Arc::new(postgres::serve(url, start)?),
    })
}

/// Opens the store that is there, also while a server runs on it.
///
/// # Errors
///
/// Nothing is created or changed then.
pub fn open(url: &StoreUrl) -> Result<Arc<dyn Engine>, StoreError> {
    match url {
        StoreUrl::Sqlite(path) => Ok(Arc::new(sqlite::Sqlite::open(path)?)),
        StoreUrl::Postgres(url) => Ok(Arc::new(postgres::Postgres::open(url)?)),
    }
}

/// Begins a new store where there is nothing.
pub fn begin(url: &StoreUrl) -> Result<Box<dyn NewStore>, StoreError> {
    match url {
        StoreUrl::Sqlite(path) => sqlite::begin(path),
        StoreUrl::Postgres(url) => postgres::begin(url),
    }
}

/// The largest plant that the store's engine holds, in bytes of its texts.
#[must_use]
pub fn largest_plant(url: &StoreUrl) -> u64 {
    match url {
        StoreUrl::Sqlite(_) => sqlite::LARGEST_PLANT,
        StoreUrl::Postgres(_) => postgres::LARGEST_PLANT,
    }
}
