//! Where plants and token digests are kept.
//!
//! [`serve`], [`open`] and [`fill`] turn a [`StoreUrl`] into an [`Engine`]; nothing outside this
//! crate knows which one keeps the store. [`GroupCommit`] commits the creates of all requests
//! through it. Nothing here knows HTTP or the members of a plant, and nothing here ever sees a
//! token, only digests.

mod digest;
mod engine;
mod error;
mod group_commit;
mod last_cause;
mod layout;
mod metrics;
mod place;
mod postgres;
mod same_plant;
mod sqlite;
pub mod token;
mod token_row;
mod url;
mod watch;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use digest::ContentDigest;
pub use engine::{Checked, Engine, Outcome, PAGE_ROWS, Row, Served, Sizes, Start};
pub use error::{Cause, CommitError, Reason, StoreError};
pub use group_commit::{CreateResult, GroupCommit, Guard, WriterEnd};
pub use last_cause::LastCause;
pub use layout::LAYOUT;
pub use place::Place;
pub use url::{InvalidUrl, StoreUrl};
pub use watch::watch;

/// Opens the store to be served; `ca` is a file with the authority of a database's certificate.
/// If there is none and `start` says so, an empty one is created atomically.
///
/// # Errors
///
/// [`StoreError::Unreachable`] if a database may be there later: then call it again.
pub fn serve(
    url: &StoreUrl,
    ca: Option<&Path>,
    start: Start,
) -> Result<Served<Arc<dyn Engine>>, StoreError> {
    match url {
        StoreUrl::Sqlite(path) => sqlite::serve(path, start).map(Served::shared),
        StoreUrl::Postgres(url) => postgres::serve(url, ca, start).map(Served::shared),
    }
}

/// Opens the store that is there to read it or to change its tokens, also while a server runs on
/// it.
///
/// # Errors
///
/// Nothing was created or changed.
pub fn open(url: &StoreUrl, ca: Option<&Path>) -> Result<Box<dyn Engine>, StoreError> {
    Ok(match url {
        StoreUrl::Sqlite(path) => Box::new(sqlite::open(path)?),
        StoreUrl::Postgres(url) => Box::new(postgres::open(url, ca)?),
    })
}

/// Opens the store that is there to read it, also from a disk that is full or read-only, if no
/// server has it open.
///
/// # Errors
///
/// Nothing was created or changed.
pub fn open_to_read(url: &StoreUrl, ca: Option<&Path>) -> Result<Box<dyn Engine>, StoreError> {
    match url {
        StoreUrl::Sqlite(path) => sqlite::open_to_read(path),
        StoreUrl::Postgres(_) => open(url, ca),
    }
}

/// The temporary files in the folder of a store: what a first [`serve`] or a [`fill`] has left
/// there that was killed, or what one that runs is writing.
pub fn unfinished(url: &StoreUrl) -> Vec<PathBuf> {
    match url {
        StoreUrl::Sqlite(path) => sqlite::unfinished(path),
        StoreUrl::Postgres(_) => Vec::new(),
    }
}

/// Makes a store and has `fill` fill it. A file appears whole and synced, or not at all. In a
/// database, what was filled stays if `fill` fails: it may be run again.
///
/// # Errors
///
/// There is something in the place of the file, or `fill` failed.
pub fn fill(
    url: &StoreUrl,
    ca: Option<&Path>,
    fill: &mut dyn FnMut(&dyn Engine) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    match url {
        StoreUrl::Sqlite(path) => sqlite::fill(path, fill),
        StoreUrl::Postgres(url) => postgres::fill(url, ca, fill),
    }
}
