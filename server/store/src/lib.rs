//! Where rows and tokens are kept: a row is an id and a JSON text. Nothing here knows HTTP, what the
//! text means, or a flag or
//! page of the product. Nothing here ever sees a whole token, only its digest and its first eight
//! characters.
//!
//! # The map
//!
//! - [`Engine`] (`engine.rs`) is what an engine promises: commit, read, change the tokens, check.
//!   [`open_to_serve`], [`open`] and [`fill`] turn a [`StoreUrl`] (`url.rs`) into one. Who serves a
//!   store does not know which engine keeps it. [`restore`] is for files alone.
//! - `sqlite` and `postgres` are the engines, file by file alike: `schema` creates and checks the
//!   tables, `rows` and `tokens` read and write them, `error` says what the engine's errors mean.
//!   How a commit becomes durable is the engine's own: in SQLite the file, its WAL and its lock
//!   (`open`, `store`, `connection`, `wal`, `files`, `opened_files`, `restore`), in PostgreSQL the
//!   sessions with a database (`connector`, `session`, `reconnecting_session`, `tls`, `url`).
//! - [`GroupCommit`] commits the creates of all requests through one engine.
//!   [`inspect_each_second`] looks after a store that is served.
//! - [`StoreError`] and [`WriteError`] (`error.rs`) are how an open store and a commit fail.
//! - What both engines use: `token` and `token_row`, `same_json`, `layout`, `names`, and [`ContentDigest`],
//!   by which stores are compared. `metrics` counts. [`LastCause`] deduplicates warnings.
//!
//! A create runs through `group_commit`, then through the [`Engine`] and the `rows` of `sqlite` or
//! `postgres`.

mod digest;
mod engine;
mod error;
mod group_commit;
mod inspection;
mod last_cause;
mod layout;
mod metrics;
mod names;
mod postgres;
mod same_json;
mod sqlite;
pub mod token;
mod token_row;
mod url;

use std::path::Path;
use std::sync::Arc;

pub use digest::ContentDigest;
pub use engine::{Checked, Closed, Engine, IfMissing, Outcome, PAGE_ROWS, Row, Served, Sizes};
pub use error::{Cause, Reason, StoreError, WriteError};
pub use group_commit::{CreateResult, GroupCommit, Guard, NotReady, WriterEnd};
pub use inspection::inspect_each_second;
pub use last_cause::LastCause;
pub use layout::LAYOUT;
pub use sqlite::{Restored, restore};
pub use url::{InvalidUrl, StoreUrl};

/// Opens the store to be served; `ca` is a file with the authority of a database's certificate.
///
/// # Errors
///
/// [`StoreError::Unreachable`] if a database may be there later: then call it again.
pub fn open_to_serve(
    url: &StoreUrl,
    ca: Option<&Path>,
    if_missing: IfMissing,
) -> Result<Served<Arc<dyn Engine>>, StoreError> {
    match url {
        StoreUrl::Sqlite(path) => sqlite::open_to_serve(path, if_missing).map(Served::shared),
        StoreUrl::Postgres(url) => postgres::open_to_serve(url, ca, if_missing).map(Served::shared),
    }
}

/// Opens the store that is there, to read it or to change its tokens, also while a server runs on
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

/// Creates a store and has `fill` fill it. Until that has ended, no command but another fill uses
/// the store.
///
/// # Errors
///
/// There is something in the place of the file, or `fill` failed. Then the file is removed. In a
/// database, what was filled stays, and the same may be filled in again.
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
