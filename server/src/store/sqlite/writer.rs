//! The one connection that writes plants.

use rusqlite::{Connection, Transaction};

use crate::store::error::CommitError;
use crate::store::sqlite::checkpoint::{Checkpoint, TOO_MANY_PAGES};
use crate::store::sqlite::connection::transact;
use crate::store::sqlite::header::Header;

/// Pages of the WAL after which it is copied into the store's file: SQLite's own default, 4 MiB
/// (<https://sqlite.org/c3ref/wal_autocheckpoint.html>). With more pages a create costs the same,
/// on 10 million plants too, and the slowest creates take longer.
const CHECKPOINT_PAGES: i64 = 1000;

pub struct Writer {
    pub connection: Connection,
    header: Header,
    /// The WAL's length at the last checkpoint, in pages. While a reader keeps the WAL from starting
    /// over, the next checkpoint comes after [`CHECKPOINT_PAGES`] more.
    checkpointed: i64,
    /// Whether an fsync has failed.
    is_lost: bool,
}

impl Writer {
    pub fn new(connection: Connection, header: Header) -> Self {
        Self { connection, header, checkpointed: 0, is_lost: false }
    }

    /// Commits one transaction.
    ///
    /// # Errors
    ///
    /// After a failed fsync every further call fails: the next fsync could succeed without writing
    /// the lost pages.
    pub fn commit<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, CommitError> {
        if self.is_lost {
            return Err(CommitError::SyncFailed("an earlier sync failed".into()));
        }
        let committed =
            transact(&mut self.connection, self.header, work).map_err(CommitError::from);
        self.is_lost = matches!(committed, Err(CommitError::SyncFailed(_)));
        committed
    }

    /// Says in the header whether a server has the store open.
    pub fn set_open(&mut self, is_open: bool) -> Result<(), CommitError> {
        let header = Header { is_open, ..self.header };
        self.commit(|transaction| header.write(transaction))
    }

    /// Copies the WAL into the file when it has grown.
    pub fn checkpoint_if_long(&mut self) -> Result<(), CommitError> {
        let found = Checkpoint::Noop.run(&self.connection)?;
        if found.pages < self.checkpointed {
            self.checkpointed = 0;
        }
        if found.pages - self.checkpointed < CHECKPOINT_PAGES {
            return Ok(());
        }
        self.checkpointed = found.pages;
        if found.pages - found.copied > TOO_MANY_PAGES {
            return Ok(());
        }
        match Checkpoint::Restart.run_at_once(&mut self.connection).map_err(CommitError::from) {
            Err(lost @ CommitError::SyncFailed(_)) => Err(lost),
            // A full disk under the store's file, say. The WAL may have room for this commit.
            _ => Ok(()),
        }
    }
}
