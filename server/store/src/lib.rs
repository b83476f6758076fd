//! The store: it keeps rows and tokens durably. A row is an id and a JSON text.
//!
//! ```no_run
//! # use std::{sync::Arc, time::Duration};
//! # use groundwork_store::{GroupCommit, Mode, Names, Row, StoreUrl, open};
//! # async fn example(log: slog::Logger) -> Result<(), Box<dyn std::error::Error>> {
//! static NAMES: Names =
//!     Names { program: "book-shelf", table: "books", application_id: *b"BKS" };
//!
//! let url: StoreUrl = "sqlite:book-shelf.db".parse()?;
//! let store = open(&NAMES, &url, None, Mode::ServeOrCreate)?.store;
//! let (commits, _end) = GroupCommit::start(store, Duration::from_secs(5), log)?;
//! let row = Row { id: 1, json: r#"{"title":"Ulysses"}"#.into() };
//! commits.create(row, Arc::new(())).await?; // durable
//! # Ok(()) }
//! ```
//!
//! Nothing here knows HTTP, what a text means, or a flag or page of the product. Nothing here ever
//! sees a whole token, only its digest and its first characters.
//!
//! # The map
//!
//! - [`Engine`] (`engine.rs`) is the contract of an engine: commit, read, change the tokens, check.
//!   [`open`] turns a [`StoreUrl`] (`url.rs`) into an open store. Code that uses a store does not
//!   know which engine it has.
//! - [`read_all`] reads a whole store, and [`copy()`] copies one; both prove that nothing was
//!   skipped ([`Contents`]).
//! - `sqlite` and `postgres` are the engines. In both, `schema` creates and checks the tables, and
//!   `rows` reads and changes rows and tokens. How a commit becomes durable differs: in SQLite it
//!   takes the file, its WAL and its lock (`open`, `files`, `served_files`, `wal`, `copy`), in
//!   PostgreSQL the sessions with a database (`connector`, `session`, `error`).
//! - [`GroupCommit`] commits the creates of all requests through one engine, and inspects the store
//!   in between.
//! - [`Error`] (`error.rs`) is the error of every call, and its [`Kind`] what it means for the
//!   caller. [`WarningDedup`] deduplicates warnings.
//! - `token` is a token as a store keeps it.
//!
//! A create passes through `group_commit` and its `writer`, then through the [`Engine`] of
//! `sqlite`, which checks the `served_files`, or of `postgres`. The names of the service come in as
//! [`Names`].

mod contents;
mod copy;
mod engine;
mod error;
mod group_commit;
mod postgres;
mod sqlite;
#[cfg(test)]
mod tests;
pub mod token;
mod url;

use std::path::Path;

pub use contents::{Contents, read_all};
pub use copy::{Copied, Copy, TokensFrom, copy};
pub use engine::{Engine, LAYOUT, Mode, Opened, Outcome, Row, Sizes};
pub use error::{Error, Kind, WarningDedup};
pub use group_commit::{CreateResult, GroupCommit, Guard, WriterEnd};
pub use url::{InvalidUrl, StoreUrl};

/// Opens a store. `ca` is a PEM file with the certificate of the authority that signed the
/// database's certificate.
///
/// # Errors
///
/// [`Kind::Unavailable`] if a database may become reachable later; the call may be repeated.
/// With [`Mode::Read`] or [`Mode::Change`] nothing was created or changed.
pub fn open(
    names: &'static Names,
    url: &StoreUrl,
    ca: Option<&Path>,
    mode: Mode,
) -> Result<Opened, Error> {
    match url {
        StoreUrl::Sqlite(path) => sqlite::open(names, path, mode),
        StoreUrl::Postgres(url) => postgres::open(names, url, ca, mode),
    }
}

/// The names of a service. If one of them changes, existing databases can no longer be used; a file
/// does not contain the name of the program.
#[derive(Debug, PartialEq, Eq)]
pub struct Names {
    /// The name of the program, such as `book-shelf`: a lowercase letter, then lowercase letters,
    /// digits and `-`. It is the `application_name` of a session with a database. The name of the
    /// table with the layout version follows from it.
    pub program: &'static str,
    /// The table of the rows, such as `books`: lowercase letters and `_`. It must be neither
    /// `tokens` nor a keyword of SQL, such as `order`, because statements do not quote it.
    pub table: &'static str,
    /// The first three bytes of `application_id` in an SQLite file.
    pub application_id: [u8; 3],
}

impl Names {
    /// Returns the table of a database that contains the layout version.
    pub(crate) fn layout_table(&self) -> String {
        format!("{}_schema", self.program.replace('-', "_"))
    }
}
