//! The one connection that writes plants.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rusqlite::{CachedStatement, Connection, Transaction};

use crate::store::engine::{Outcome, Writer};
use crate::store::error::{CommitError, StoreError, failed};
use crate::store::sqlite::checkpoint::{Checkpoint, TOO_MANY_PAGES};
use crate::store::sqlite::connection::{BUSY_TIMEOUT, connect};
use crate::store::sqlite::existing_file;
use crate::store::sqlite::files::StoreFiles;
use crate::store::sqlite::lock::LockFile;
use crate::store::sqlite::mark::Mark;
use crate::store::sqlite::row;
use crate::store::sqlite::schema;
use crate::store::sqlite::wal::Header;
use crate::types::NewPlant;

/// Pages of the WAL after which it is copied into the store's file: SQLite's own default, 4 MiB
/// (<https://sqlite.org/c3ref/wal_autocheckpoint.html>). With more pages a create costs the same,
/// on 10 million plants too, and the slowest creates take longer.
const CHECKPOINT_PAGES: u64 = 1000;

const OPEN: &str = "open the store for writing";

pub struct SqliteWriter {
    connection: Connection,
    files: Arc<StoreFiles>,
    /// The length of the WAL, in pages, after the last commit.
    wal_pages: u64,
    /// Its length at the last checkpoint. While a reader keeps the WAL from starting over, the next
    /// checkpoint comes after [`CHECKPOINT_PAGES`] more.
    checkpointed: u64,
    /// The header of the WAL that has a mark.
    marked: Option<Header>,
    /// Whether the next transaction starts the WAL over.
    starts_over: bool,
    /// Held as long as the connection, see [`LockFile`].
    _lock: Arc<LockFile>,
    /// Locked while this process or a command changes the tokens.
    tokens: Arc<Mutex<Connection>>,
}

impl SqliteWriter {
    /// The writer of the store with these files.
    pub fn open(
        files: Arc<StoreFiles>,
        lock: Arc<LockFile>,
        tokens: Arc<Mutex<Connection>>,
    ) -> Result<Self, StoreError> {
        let path = files.store().path();
        let mut connection = connect(path).map_err(failed(OPEN))?;
        let other = connect(path).map_err(failed(OPEN))?;
        // The files that this connection has open must be those that were looked at.
        files.check_all(&connection).map_err(failed(OPEN))?;
        files.wal.renew(&mut connection, &other).map_err(failed("renew the store's WAL"))?;
        let mut writer = Self {
            connection,
            files,
            wal_pages: 0,
            checkpointed: 0,
            marked: None,
            starts_over: false,
            _lock: lock,
            tokens,
        };
        writer.begin().map_err(failed(OPEN))?;
        Ok(writer)
    }
}

impl Writer for SqliteWriter {
    fn commit(&mut self, plants: &[NewPlant], _: Instant) -> Result<Vec<Outcome>, CommitError> {
        self.transact(|transaction| put_all(transaction, plants))
    }

    fn try_write(&mut self, _: Instant) -> Result<(), CommitError> {
        self.transact(schema::touch)
    }

    /// The mark of a store that was stopped is in no WAL, so no WAL can belong to it.
    fn finish(&mut self) -> Result<(), CommitError> {
        self.starts_over = self.checkpoint()?;
        self.transact(|transaction| Mark::set_open(transaction, false))
    }

    fn maintain(&mut self) -> Result<(), CommitError> {
        if self.wal_pages < self.checkpointed {
            self.checkpointed = 0;
        }
        if self.wal_pages - self.checkpointed < CHECKPOINT_PAGES {
            return Ok(());
        }
        self.checkpointed = self.wal_pages;
        let found = Checkpoint::Noop.run(&self.connection)?;
        if found.pages - found.copied <= TOO_MANY_PAGES {
            self.starts_over = self.checkpoint()?;
        }
        Ok(())
    }
}

impl SqliteWriter {
    fn transact<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, CommitError> {
        self.try_transact(work).map_err(|error| match error {
            // SQLite does not tell a limit on file size from a broken disk; it passes like a full
            // disk.
            CommitError::Fault(cause) if self.files.is_at_size_limit() => {
                CommitError::Unavailable(cause)
            }
            other => other,
        })
    }

    fn try_transact<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, CommitError> {
        // Changes of the tokens go first.
        drop(self.tokens.lock());
        // A cut is seen now or never: what is written behind it makes the WAL long again.
        self.files.check(&self.connection)?;
        let transaction = self.connection.transaction()?;
        // With the write lock, only this transaction can start the WAL over, unless another did.
        let marks = self.starts_over && self.files.wal.header()? == self.marked;
        if marks {
            Mark::write(&transaction)?;
        }
        let done = work(&transaction)?;
        transaction.commit()?;
        self.starts_over = false;
        // The plants are answered only if the files in which they are were not removed meanwhile.
        self.wal_pages = self.files.check(&self.connection)?;
        let header = self.files.wal.header()?;
        if header != self.marked {
            if !marks {
                self.files.wal.ensure_marked(&mut self.connection)?;
            }
            self.marked = header;
        }
        Ok(done)
    }

    /// Makes sure, before the first plant, that the WAL has a mark and that the file says that there
    /// is a WAL.
    fn begin(&mut self) -> Result<(), CommitError> {
        self.files.wal.ensure_marked(&mut self.connection)?;
        self.marked = self.files.wal.header()?;
        let in_file = existing_file::mark(self.files.store().path());
        if !matches!(in_file, Ok(Some(Mark { open: true, .. }))) {
            self.transact(|transaction| Mark::set_open(transaction, true))?;
            self.starts_over = self.checkpoint()?;
        }
        Ok(())
    }

    /// Copies the WAL into the file, and waits for no reader that is in the way. Returns whether it
    /// copied all, so that the next transaction starts the WAL over.
    fn checkpoint(&mut self) -> Result<bool, CommitError> {
        self.files.check(&self.connection)?;
        self.connection.busy_timeout(Duration::ZERO)?;
        let checkpointed = Checkpoint::Restart.run(&self.connection);
        self.connection.busy_timeout(BUSY_TIMEOUT)?;
        Ok(checkpointed?.complete)
    }
}

fn put_all(transaction: &Transaction<'_>, plants: &[NewPlant]) -> rusqlite::Result<Vec<Outcome>> {
    let (mut insert, mut same) = (row::insert(transaction)?, row::same(transaction)?);
    plants.iter().map(|plant| put(&mut insert, &mut same, plant)).collect()
}

fn put(
    insert: &mut CachedStatement<'_>,
    same: &mut CachedStatement<'_>,
    plant: &NewPlant,
) -> rusqlite::Result<Outcome> {
    if insert.execute(row::values(plant))? == 1 {
        return Ok(Outcome::Created);
    }
    let same: bool = same.query_row(row::values(plant), |row| row.get(0))?;
    Ok(if same { Outcome::Repeated } else { Outcome::Conflict })
}

#[cfg(test)]
mod tests;
