//! What every engine promises.
//!
//! An engine keeps its promises even if a process or the machine stops at any moment:
//!
//! - **Durable.** What [`Engine::commit`] reports as created or repeated survives a power cut.
//! - **Exactly once.** A row is there or not: never in part, never twice.
//! - **First write wins.** An id always belongs to the first row committed under it.
//! - **Byte-exact.** The text of a row comes back as it came.
//!
//! No engine knows what a text means, and none changes or removes a row.

use std::sync::Arc;
use std::time::Instant;

use crate::error::{StoreError, WriteError};
use crate::token::{StoredToken, TokenName};

/// The most creates of one transaction: enough to make the fsync cheap for each, few enough that
/// the first of them does not wait long.
pub const BATCH: usize = 1024;

/// How many rows a page has, if all are read.
pub const PAGE_ROWS: usize = 1000;

/// How many bytes of texts end a page.
pub const PAGE_BYTES: usize = 1024 * 1024;

/// A row of the store: what a create commits, and never changes again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The key of the table.
    pub id: i64,
    /// The JSON text that is kept under the id. The row and the answer share it.
    pub json: Arc<str>,
}

/// A store that is open.
///
/// All calls block the thread, which must not be one that drives a runtime. One thread commits;
/// others read meanwhile and do not wait for a commit. Any number of processes may have a store
/// open beside those that serve it: one process serves a file, any number serve a database.
pub trait Engine: Send + Sync {
    /// Commits the rows in one transaction and returns an outcome for each, as if they were
    /// committed one by one in their order. Without rows it writes what changes nothing: it tells
    /// whether the store takes writes.
    ///
    /// An engine that can be interrupted returns before `until`, when nobody waits for any of the
    /// rows any more, and repeats until then what may succeed. A file cannot be interrupted.
    ///
    /// # Errors
    ///
    /// No row may be answered with success.
    fn commit(&self, rows: &[Row], until: Instant) -> Result<Vec<Outcome>, WriteError>;

    /// What the next commits need, such as a checkpoint. Called after each answered batch, so no
    /// answer waits for it, and the next creates gather meanwhile.
    ///
    /// # Errors
    ///
    /// As for a commit. What was committed before stays durable.
    fn upkeep(&self) -> Result<(), WriteError> {
        Ok(())
    }

    /// Reads the rows with an id greater than `after`, in the order of the ids: at most `limit`, and
    /// about a MiB of texts. Empty after the last row. A row never changes, so the pages of a
    /// store hold every row that was there when the first page was read. A damaged store may skip
    /// rows, or return them in another order, without an error.
    fn page(&self, after: Option<i64>, limit: usize) -> Result<Vec<Row>, StoreError>;

    /// Counts the rows. SQLite verifies the structure of its file before: damage is an error.
    fn count(&self) -> Result<u64, StoreError>;

    /// Every token, expired ones included, in the order of their names.
    fn tokens(&self) -> Result<Vec<StoredToken>, StoreError>;

    /// Keeps a new token; durable when this returns. It never replaces one, not even one that has
    /// expired: the clock may be wrong.
    ///
    /// # Errors
    ///
    /// [`StoreError::TokenNameTaken`], or that the store failed.
    fn add_token(&self, token: &StoredToken) -> Result<(), StoreError>;

    /// Removes the token of that name; durable when this returns.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoSuchToken`], or that the store failed.
    fn revoke_token(&self, name: &TokenName) -> Result<(), StoreError>;

    /// Looks for what is wrong with the store. It does not read the texts of the rows.
    fn check(&self) -> Result<Checked, StoreError>;

    /// Looks at what no commit looks at, such as a file that was moved away, or a setting of the
    /// database that was changed, and cuts a WAL that has become long. A server calls it once a
    /// second, beside commits.
    ///
    /// # Errors
    ///
    /// As for a commit; an error that [`WriteError::is_final`] ends the service.
    fn inspect(&self) -> Result<Sizes, WriteError>;

    /// The last call of a server, after the last commit.
    ///
    /// # Errors
    ///
    /// What was committed before is durable all the same.
    fn close(&self) -> Result<Closed, StoreError>;
}

/// How a store was left at the end of a server. What was committed is durable in each case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// Nothing is left for the next start.
    Wholly,
    /// Another program was in the way, so the next start copies the WAL into the store's file.
    WalLeft {
        /// The size of the WAL.
        bytes: u64,
    },
    /// The next start puts it in order.
    AsAfterACrash,
}

/// What [`Engine::check`] has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// What is wrong with the store, in words for an operator; nothing if it is sound.
    pub faults: Vec<String>,
    /// What it takes on the disk.
    pub sizes: Sizes,
}

/// What a server does if there is no store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfMissing {
    /// It creates an empty one.
    Create,
    /// It fails with [`StoreError::Missing`].
    Fail,
}

/// A store that was opened to be served.
pub struct Served<S> {
    /// The store.
    pub store: S,
    /// Whether this call has made it.
    pub is_new: bool,
}

impl<S: Engine + 'static> Served<S> {
    /// The same, for callers that do not know the engine.
    pub(crate) fn shared(self) -> Served<Arc<dyn Engine>> {
        Served { store: Arc::new(self.store), is_new: self.is_new }
    }
}

/// What a store takes on the disk, in bytes, as far as the engine can tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// The rows; in a file, also the tokens.
    pub store: Option<u64>,
    /// SQLite's WAL: what is not in the store's file yet.
    pub wal: Option<u64>,
    /// What is free for this process on the disk of a file.
    pub disk_free: Option<u64>,
}

/// What became of one row of a committed batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its id was free.
    Created,
    /// The very same row was there already.
    Repeated,
    /// Its id belongs to a different row, which is untouched.
    Conflict,
}
