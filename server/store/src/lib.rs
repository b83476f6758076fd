//! The store: it keeps rows and tokens durably. A row is an id and a JSON text.
//!
//! ```no_run
//! # use std::{sync::Arc, time::Duration};
//! # use groundwork_store::{GroupCommit, IfMissing, Names, Row, StoreUrl, open_to_serve};
//! # async fn example(log: slog::Logger) -> Result<(), Box<dyn std::error::Error>> {
//! static NAMES: Names =
//!     Names { program: "book-shelf", table: "books", application_id: *b"BKS" };
//!
//! let url: StoreUrl = "sqlite:book-shelf.db".parse()?;
//! let store = open_to_serve(&NAMES, &url, None, IfMissing::Create)?.store;
//! let (commits, _end) = GroupCommit::start(store, Duration::from_secs(5), log)?;
//! let row = Row { id: 1, json: r#"{"title":"Ulysses"}"#.into() };
//! commits.create(row, Arc::new(())).await?; // durable
//! # Ok(()) }
//! ```
//!
//! Nothing here knows HTTP, what a text means, or a flag or page of the product. Nothing here ever
//! sees a whole token, only its digest and its first eight characters.
//!
//! # The map
//!
//! - [`Engine`] (`engine.rs`) is the contract of an engine: commit, read, change the tokens, check.
//!   [`open_to_serve`], [`open_to_read`] and [`open_to_change`] turn a [`StoreUrl`] (`url.rs`) into
//!   an open store. Code that uses a store does not know which engine it has.
//! - [`read_all`] reads a whole store, and [`copy()`] copies one; both prove that nothing was
//!   skipped ([`Contents`]).
//! - `sqlite` and `postgres` are the engines. In both, `schema` creates and checks the tables, and
//!   `rows` reads and writes them and the tokens. How a commit becomes durable differs: in SQLite it
//!   takes the file, its WAL and its lock (`files`, `wal`, `copy`), in PostgreSQL the sessions with
//!   a database (`connector`, `session`, `error`).
//! - [`GroupCommit`] commits the creates of all requests through one engine, and inspects the store
//!   while it is served.
//! - [`StoreError`] and [`WriteError`] (`error.rs`) are the errors of a store and of a commit.
//! - Both engines share `token` and `token_row`, `same_json`, `layout` and `names`. `metrics` holds
//!   the metrics. [`WarningDedup`] deduplicates warnings.
//!
//! A create passes through `group_commit`, then through the [`Engine`] and `rows` of `sqlite` or
//! `postgres`. What the service is called comes in as [`Names`].

mod contents;
mod copy;
mod engine;
mod error;
mod group_commit;
mod layout;
mod metrics;
mod names;
mod postgres;
mod same_json;
mod sqlite;
pub mod token;
mod token_row;
mod url;
mod warning_dedup;

use std::path::Path;
use std::sync::Arc;

pub use contents::{Contents, Incomplete, read_all};
pub use copy::{Copied, Copy, Interrupted, TokensFrom, copy};
pub use engine::{Checked, Closed, Engine, IfMissing, Outcome, Row, Served, Sizes};
pub use error::{Cause, FilesGone, Reason, StoreError, WriteError};
pub use group_commit::{CreateResult, GroupCommit, Guard, NotReady, WriterEnd};
pub use layout::LAYOUT;
pub use names::Names;
pub use url::{InvalidUrl, StoreUrl};
pub use warning_dedup::WarningDedup;

/// Opens a store for serving. `ca` is a PEM file with the certificate of the authority that signed
/// the database's certificate.
///
/// # Errors
///
/// [`StoreError::Unreachable`] if a database may become reachable later; the call may be repeated.
pub fn open_to_serve(
    names: &'static Names,
    url: &StoreUrl,
    ca: Option<&Path>,
    if_missing: IfMissing,
) -> Result<Served<Arc<dyn Engine>>, StoreError> {
    match url {
        StoreUrl::Sqlite(path) => {
            sqlite::open_to_serve(names, path, if_missing).map(Served::shared)
        }
        StoreUrl::Postgres(url) => {
            postgres::open_to_serve(names, url, ca, if_missing).map(Served::shared)
        }
    }
}

/// Opens an existing store to read it. A server may be running on it, and a file may be one that
/// this process cannot write to.
///
/// # Errors
///
/// If this fails, nothing was created or changed.
pub fn open_to_read(
    names: &'static Names,
    url: &StoreUrl,
    ca: Option<&Path>,
) -> Result<Box<dyn Engine>, StoreError> {
    Ok(match url {
        StoreUrl::Sqlite(path) => Box::new(sqlite::open_to_read(names, path)?),
        StoreUrl::Postgres(url) => Box::new(postgres::open(names, url, ca)?),
    })
}

/// Opens an existing store to change its tokens. A server may be running on it.
///
/// # Errors
///
/// If this fails, nothing was created or changed.
pub fn open_to_change(
    names: &'static Names,
    url: &StoreUrl,
    ca: Option<&Path>,
) -> Result<Box<dyn Engine>, StoreError> {
    Ok(match url {
        StoreUrl::Sqlite(path) => Box::new(sqlite::open_to_change(names, path)?),
        StoreUrl::Postgres(url) => Box::new(postgres::open(names, url, ca)?),
    })
}
