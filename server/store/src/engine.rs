//! The contract that every engine keeps.
//!
//! These guarantees hold even if the process or the machine stops at any moment:
//!
//! - **Durable.** A row that [`Engine::commit`] reports as created or repeated survives a power
//!   cut.
//! - **Exactly once.** A row is stored completely or not at all, and never twice.
//! - **First write wins.** An id always belongs to the first row committed under it.
//! - **Byte-exact.** The text of a row is returned exactly as it was stored.
//!
//! No engine knows what a text means, and no call changes or removes a row.

use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;

use crate::error::Error;
use crate::token::{StoredToken, TokenName};

/// The maximum number of creates in one transaction: enough to spread the cost of the fsync, and
/// few enough that the first create does not wait long.
pub const BATCH: usize = 1024;

/// The number of rows in a page when the whole store is read.
pub const PAGE_ROWS: usize = 1000;

/// A page ends when its texts reach this many bytes.
pub const PAGE_BYTES: usize = 1024 * 1024;

/// The layout version that this release reads and writes, in every engine.
pub const LAYOUT: u8 = 1;

/// A row of the store. A create commits it, and it never changes afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The primary key.
    pub id: i64,
    /// The JSON text that is stored under the id. The row and the response share it.
    pub json: Arc<str>,
}

/// An open store.
///
/// Every call blocks, so it must not be made on a thread that drives an async runtime. One thread
/// commits; other threads may read at the same time, and do not wait for a commit.
///
/// Only one process can serve a file, but any number of processes can serve a database. In either
/// case any number of other processes may have the store open.
pub trait Engine: Send + Sync {
    /// Commits the rows in one transaction and returns an outcome for each, as if they had been
    /// committed one by one in order. Without rows it is a test write: it changes nothing, and
    /// shows whether the store takes writes.
    ///
    /// After `deadline` no request waits for any of these rows any more. An engine that can be
    /// interrupted retries failures that may pass, and gives up at the deadline. SQLite cannot
    /// interrupt a sync, and ignores the deadline.
    ///
    /// # Errors
    ///
    /// If this fails, no row may be acknowledged.
    fn commit(&self, rows: &[Row], deadline: Instant) -> Result<Vec<Outcome>, Error>;

    /// Reads the row with this id, if there is one. The engine gives up at `deadline`, except that
    /// SQLite waits for the disk.
    fn get(&self, id: i64, deadline: Instant) -> Result<Option<Row>, Error>;

    /// Reads a page of rows: the rows with an id greater than `after`, in ascending order of the
    /// ids, at most `limit` rows and about a MiB of texts. The page after the last row is empty.
    ///
    /// A row never changes, so the pages together contain every row that existed when the first
    /// page was read. A damaged store may skip rows, or return them out of order, without an error.
    fn page(&self, after: Option<i64>, limit: usize) -> Result<Vec<Row>, Error>;

    /// Counts the rows. SQLite verifies the structure of its file first, and fails if it is
    /// damaged.
    fn count(&self) -> Result<u64, Error>;

    /// Returns all tokens in the order of their names, including expired ones.
    fn tokens(&self) -> Result<Vec<StoredToken>, Error>;

    /// Stores a new token. The token is durable when this returns. It never replaces another token,
    /// not even an expired one: the clock may be wrong.
    ///
    /// # Errors
    ///
    /// Fails if the name is taken.
    fn add_token(&self, token: &StoredToken) -> Result<(), Error>;

    /// Removes the token with this name, if there is one. The removal is durable when this returns.
    fn revoke_token(&self, name: &TokenName) -> Result<(), Error>;

    /// Returns the faults of the store in words for an operator. It does not read the texts of the
    /// rows. In a database it checks the settings; the database's own tools check its files
    /// (<https://www.postgresql.org/docs/current/amcheck.html>).
    fn check(&self) -> Result<Vec<String>, Error>;

    /// Returns how much space the store takes on disk. Nothing is known about the disks of a
    /// database.
    fn sizes(&self) -> Sizes {
        Sizes::default()
    }

    /// Checks what a server relies on even if nobody sends a create: whether the files of SQLite
    /// are in place, which a commit checks too, and whether the settings of a database are safe. It
    /// also truncates a WAL that has grown too long. The writer calls this once a second.
    ///
    /// # Errors
    ///
    /// The same as for a commit. If [`Error::is_final`] is true, the service has to end.
    fn inspect(&self) -> Result<(), Error>;

    /// Closes the store. A server calls this last, after the last commit.
    ///
    /// # Errors
    ///
    /// Everything that was committed before is durable all the same.
    fn close(&self) -> Result<(), Error> {
        Ok(())
    }
}

/// What a store is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Reading an existing store. A server may be running on it.
    Read,
    /// Changing the tokens of an existing store. A server may be running on it.
    Change,
    /// Serving an existing store.
    Serve,
    /// Serving a store. If there is none, it is created in one transaction, without rows and
    /// without tokens.
    ServeOrCreate,
}

/// A store that was opened.
pub struct Opened {
    /// The store.
    pub store: Arc<dyn Engine>,
    /// Whether this call created the store.
    pub is_new: bool,
}

/// The disk usage of a store in bytes. A size that the engine cannot report is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// The size of the store's file.
    pub store: Option<u64>,
    /// The size of the WAL.
    pub wal: Option<u64>,
    /// The free space that this process may use on the disk of the store.
    pub disk_free: Option<u64>,
}

/// The outcome of one row of a committed batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The id was free, and the row was added.
    Created,
    /// The store already had the same row.
    Repeated,
    /// The id belongs to a different row, which was left unchanged.
    Conflict,
}

impl Outcome {
    /// Returns the outcome of a row whose id is taken: it is a repeat if the texts are the same
    /// JSON value. A `kept` text that differs and is not JSON is a conflict.
    ///
    /// `sent` is not the body of the request. The service serializes each value anew, always in the
    /// same way, so a value normally has one text. The values are compared for rows that another
    /// release or another program has written with its members in another order or with other
    /// escapes.
    pub(crate) fn of_taken_id(kept: &str, sent: &str) -> Self {
        let value = |text| serde_json::from_str::<Value>(text).ok();
        if kept == sent || value(kept).is_some_and(|kept| Some(kept) == value(sent)) {
            Self::Repeated
        } else {
            Self::Conflict
        }
    }
}
