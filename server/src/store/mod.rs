//! Where plants and token digests are kept.
//!
//! [`open_to_serve`], [`open`], [`open_tokens`] and [`begin`] turn a [`StoreUrl`] into a
//! [`ServedStore`], a [`Store`], [`Tokens`] or a [`NewStore`]; nothing outside this room knows which
//! engine keeps it. [`GroupCommit`] puts
//! the creates of all requests through the engine's one [`Writer`]. Nothing here knows about HTTP,
//! and nothing here ever sees a token, only digests.

mod batch;
mod engine;
mod error;
mod group_commit;
mod metrics;
mod page;
mod postgres;
mod running_commit;
mod sqlite;
mod tend;
mod token_row;
mod url;
mod version;
mod writer_thread;

use std::sync::Arc;

pub use batch::{CreateError, Held};
pub use engine::{
    Contents, NewStore, Outcome, Pages, ServedStore, Sizes, Start, Store, Tokens, Writer,
};
pub use error::{Cause, CommitError, Reason, StoreError};
pub use group_commit::{CreateLimits, GroupCommit, WriterEnd};
pub use tend::tend;
pub use url::{InvalidStoreUrl, StoreUrl};
pub use writer_thread::StoreLost;

/// Opens the store to be served. One process at a time serves a file; a database need not be there
/// yet. A store of an older release is brought up to date, or left as it was. If there is no store
/// and `start` says so, an empty one is created atomically: here for SQLite, in
/// [`ServedStore::set_up`] for PostgreSQL.
///
/// # Errors
///
/// There is no store, the store as it was, or a complete new one whose directory entry may not
/// survive a crash.
pub fn open_to_serve(url: &StoreUrl, start: Start) -> Result<Arc<dyn ServedStore>, StoreError> {
    Ok(match url {
        StoreUrl::Sqlite(path) => Arc::new(sqlite::open_to_serve(path, start)?),
        StoreUrl::Postgres(url) => Arc::new(postgres::open_to_serve(url, start)?),
    })
}

/// Opens the store that is there to read it, also while a server runs on it. It may have an older
/// schema. A file that cannot be written is read if no server runs on it.
///
/// # Errors
///
/// Nothing was created or changed.
pub fn open(url: &StoreUrl) -> Result<Box<dyn Store>, StoreError> {
    match url {
        StoreUrl::Sqlite(path) => sqlite::open(path),
        StoreUrl::Postgres(url) => postgres::open(url),
    }
}

/// Opens the store that is there to change its tokens, also while a server runs on it.
///
/// # Errors
///
/// Nothing was created or changed.
pub fn open_tokens(url: &StoreUrl) -> Result<Box<dyn Tokens>, StoreError> {
    Ok(match url {
        StoreUrl::Sqlite(path) => Box::new(sqlite::Sqlite::open(path)?),
        StoreUrl::Postgres(url) => Box::new(postgres::Postgres::open(url)?),
    })
}

/// Begins a new store in an empty place.
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
