//! Where plants and tokens are kept. Nothing here knows HTTP, the members of a plant, or a flag or
//! page of the product. Nothing here ever sees a whole token, only its digest and its first eight
//! characters.
//!
//! # The map
//!
//! - [`Engine`] (`engine.rs`) is what an engine promises: commit, read, change the tokens, check.
//!   [`open_to_serve`], [`open`], [`open_to_read`], [`open_damaged`] and [`fill`] turn a
//!   [`StoreUrl`] (`url.rs`) into one. [`Place`] (`place.rs`) puts a restored store in the place of
//!   another one. Who serves a store does not know which engine keeps it; backup and restore know
//!   whether it is a file.
//! - `sqlite` and `postgres` are the engines, file by file alike: `schema` makes and checks the
//!   tables, `plants` and `tokens` read and write them, `error` says what the engine's errors mean.
//!   How a commit gets durable is theirs: in SQLite the file, its WAL and its lock (`store`,
//!   `connection`, `wal`, `files`, `new_file`, `opened_files`, `place`; `read_only` for a disk that
//!   takes no writes), in PostgreSQL the sessions with a database (`connector`, `session`,
//!   `reconnecting_session`, `tls`, `url`).
//! - [`GroupCommit`] commits the creates of all requests through one engine.
//!   [`inspect_each_second`] looks after a store that is served.
//! - [`StoreError`] and [`WriteError`] (`error.rs`) are how an open store and a commit fail.
//! - What both engines use: `token` and `token_row`, `same_plant`, `layout`, and [`ContentDigest`],
//!   by which stores are compared. `metrics` counts, and [`LastCause`] says what lasts once.
//!
//! A create runs through `group_commit`, then through the [`Engine`] and the `plants` of `sqlite` or
//! `postgres`.

mod digest;
mod engine;
mod error;
mod group_commit;
mod inspection;
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

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use digest::ContentDigest;
pub use engine::{Checked, Closed, Engine, Outcome, PAGE_ROWS, Row, Served, Sizes, Start};
pub use error::{Cause, Reason, StoreError, WriteError};
pub use group_commit::{CreateResult, GroupCommit, Guard, NotReady, WriterEnd};
pub use inspection::inspect_each_second;
pub use last_cause::LastCause;
pub use layout::LAYOUT;
pub use place::Place;
pub use url::{InvalidUrl, StoreUrl};

/// Opens the store to be served; `ca` is a file with the authority of a database's certificate.
/// If there is none and `start` says so, an empty one is made, whole or not at all.
///
/// # Errors
///
/// [`StoreError::Unreachable`] if a database may be there later: then call it again.
pub fn open_to_serve(
    url: &StoreUrl,
    ca: Option<&Path>,
    start: Start,
) -> Result<Served<Arc<dyn Engine>>, StoreError> {
    match url {
        StoreUrl::Sqlite(path) => sqlite::open_to_serve(path, start).map(Served::shared),
        StoreUrl::Postgres(url) => postgres::open_to_serve(url, ca, start).map(Served::shared),
    }
}

/// Makes an empty store beside its place and removes it, to see whether a start could make one.
/// Returns whether that was tried: in a database nothing is made.
///
/// # Errors
///
/// No store can be made there.
pub fn try_to_make(url: &StoreUrl) -> Result<bool, StoreError> {
    match url {
        StoreUrl::Sqlite(path) => sqlite::try_to_make(path).map(|()| true),
        StoreUrl::Postgres(_) => Ok(false),
    }
}

/// Opens the store that is there to read it or to change its tokens, also while a server runs on
/// it.
///
/// # Errors
///
/// Nothing was made or changed.
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

/// The same, also a file of which not all can be read: one that is cut, beside damaged pages.
///
/// # Errors
///
/// Nothing was created or changed.
pub fn open_damaged(url: &StoreUrl, ca: Option<&Path>) -> Result<Box<dyn Engine>, StoreError> {
    match url {
        StoreUrl::Sqlite(path) => sqlite::open_damaged(path),
        StoreUrl::Postgres(_) => open(url, ca),
    }
}

/// The temporary files in the folder of a store: what a first [`open_to_serve`] or a [`fill`] has
/// left there that was killed, or what one that runs is writing.
pub fn unfinished(url: &StoreUrl) -> Vec<PathBuf> {
    match url {
        StoreUrl::Sqlite(path) => sqlite::unfinished(path),
        StoreUrl::Postgres(_) => Vec::new(),
    }
}

/// Makes a store and has `fill` fill it. A file appears whole and synced, or not at all. In a
/// database, what was filled stays if `fill` fails: it may be run again, and a store that this call
/// has made is refused until then.
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
