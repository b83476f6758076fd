//! The one connection that writes plants.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::time::{Duration, Instant};

use rusqlite::hooks::Wal;
use rusqlite::{CachedStatement, Connection, Transaction};

use crate::store::engine::{Cause, CommitError, Outcome, StoreError, Writer};
use crate::store::metrics::CheckpointMetrics;
use crate::store::sqlite::checkpoint::Checkpoint;
use crate::store::sqlite::connection::{BUSY_TIMEOUT, connect};
use crate::store::sqlite::error::failed;
use crate::store::sqlite::file;
use crate::store::sqlite::lock::LockFile;
use crate::store::sqlite::log::{self, TOO_MANY_PAGES};
use crate::store::sqlite::log_file::{Header, LogFile};
use crate::store::sqlite::mark::Mark;
use crate::store::sqlite::place::Place;
use crate::store::sqlite::row;
use crate::store::sqlite::schema;
use crate::types::NewPlant;

/// Pages of the log after which it is copied into the store's file: SQLite's own default, 4 MiB
/// (<https://sqlite.org/c3ref/wal_autocheckpoint.html>). With more pages a create costs the same,
/// on 10 million plants too, and the slowest creates take longer.
const CHECKPOINT_PAGES: i32 = 1000;

const OPEN: &str = "open the store for writing";

pub struct SqliteWriter {
    connection: Connection,
    place: Place,
    log: Arc<LogFile>,
    /// The length of the log, in pages, after the last commit.
    log_pages: Arc<AtomicI32>,
    /// Its length at the last checkpoint. While a reader keeps the log from starting over, the next
    /// checkpoint comes after [`CHECKPOINT_PAGES`] more.
    checkpointed: i32,
    /// The header of the log that has a mark.
    marked: Option<Header>,
    /// Whether the next transaction starts the log over.
    starts_over: bool,
    metrics: CheckpointMetrics,
    /// Held as long as the connection, see [`LockFile`].
    _lock: Arc<LockFile>,
}

impl SqliteWriter {
    /// The writer of the store in that place.
    pub fn open(store: &Place, log: Arc<LogFile>, lock: Arc<LockFile>) -> Result<Self, StoreError> {
        let path = store.store();
        let mut connection = connect(path).map_err(failed(OPEN))?;
        // The files that this connection has open must be those that were looked at.
        let place = Place::of(path).map_err(failed(OPEN))?;
        store.check_all().map_err(failed(OPEN))?;
        log::renew(&mut connection, &place, &log).map_err(failed("renew the store's log"))?;
        let mut writer = Self::new(connection, place, log, lock).map_err(failed(OPEN))?;
        writer.begin().map_err(failed(OPEN))?;
        Ok(writer)
    }

    fn new(
        mut connection: Connection,
        place: Place,
        log: Arc<LogFile>,
        lock: Arc<LockFile>,
    ) -> Result<Self, Cause> {
        let log_pages = Arc::new(AtomicI32::new(0));
        let counter = Arc::clone(&log_pages);
        connection.wal_hook(Some(move |_: &mut Wal, pages| {
            counter.store(pages, Relaxed);
            Ok(())
        }))?;
        Ok(Self {
            connection,
            place,
            log,
            log_pages,
            checkpointed: 0,
            marked: None,
            starts_over: false,
            metrics: CheckpointMetrics::register(),
            _lock: lock,
        })
    }
}

impl Writer for SqliteWriter {
    fn commit(&mut self, plants: &[NewPlant], _: Instant) -> Result<Vec<Outcome>, CommitError> {
        self.transact(|transaction| put_all(transaction, plants))
    }

    fn try_write(&mut self, _: Instant) -> Result<(), CommitError> {
        self.transact(schema::touch)
    }

    /// The mark of a store that was stopped is in no log, so none can belong to it.
    fn finish(&mut self) -> Result<(), CommitError> {
        self.starts_over = self.checkpoint()?;
        self.transact(|transaction| Mark::set_open(transaction, false))
    }

    fn maintain(&mut self) -> Result<(), CommitError> {
        let pages = self.log_pages.load(Relaxed);
        if pages < self.checkpointed {
            self.checkpointed = 0;
        }
        if pages - self.checkpointed < CHECKPOINT_PAGES {
            return Ok(());
        }
        self.checkpointed = pages;
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
            CommitError::Fault(cause) if self.place.is_at_size_limit() => {
                CommitError::Unavailable(cause)
            }
            other => other,
        })
    }

    fn try_transact<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, CommitError> {
        self.log.check_length(&self.connection, &self.place)?;
        let transaction = self.connection.transaction()?;
        // Asked with the write lock: now only this transaction can start the log over.
        let is_last = self.log.header()? == self.marked;
        let marks = self.starts_over && is_last;
        if marks {
            Mark::write(&transaction)?;
        }
        let done = work(&transaction)?;
        transaction.commit()?;
        // From here on the plants are in the log. They are answered when it is known that the next
        // start takes it.
        self.starts_over = false;
        let header = self.check()?;
        if header != self.marked {
            if !marks {
                self.log.ensure_marked(&mut self.connection)?;
            }
            self.marked = header;
        }
        Ok(done)
    }

    /// Fails where the store or its log is not in its place, or the log was cut.
    fn check(&self) -> Result<Option<Header>, CommitError> {
        self.log.check(&self.connection, &self.place)
    }

    /// Makes sure, before the first plant, that the log has a mark and that the file says that
    /// there is a log.
    fn begin(&mut self) -> Result<(), CommitError> {
        self.log.ensure_marked(&mut self.connection)?;
        self.marked = self.log.header()?;
        let says_so = matches!(file::mark(self.place.store()), Ok(Some(Mark { open: true, .. })));
        if !says_so {
            self.transact(|transaction| Mark::set_open(transaction, true))?;
            self.starts_over = self.checkpoint()?;
        }
        Ok(())
    }

    /// Copies the log into the file, unless a reader is in the way: then it waits for nobody.
    /// Returns whether it copied all, so that the next transaction starts the log over.
    fn checkpoint(&mut self) -> Result<bool, CommitError> {
        self.check()?;
        self.connection.busy_timeout(Duration::ZERO)?;
        let checkpointed = Checkpoint::Restart.run(&self.connection);
        self.connection.busy_timeout(BUSY_TIMEOUT)?;
        let is_complete = checkpointed?.complete;
        if is_complete {
            self.metrics.done();
        }
        Ok(is_complete)
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
