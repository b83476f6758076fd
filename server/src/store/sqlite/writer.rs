//! The one connection that writes plants.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::time::Duration;

use rusqlite::hooks::Wal;
use rusqlite::{CachedStatement, Connection, Transaction};

use crate::store::engine::{Cause, CommitError, Outcome, StoreError, Writer};
use crate::store::metrics::CheckpointMetrics;
use crate::store::sqlite::connection::{BUSY_TIMEOUT, connect};
use crate::store::sqlite::error::failed;
use crate::store::sqlite::file;
use crate::store::sqlite::lock::ServerLock;
use crate::store::sqlite::log::{self, Checkpoint};
use crate::store::sqlite::mark::Mark;
use crate::store::sqlite::place::Place;
use crate::store::sqlite::row;
use crate::store::sqlite::tokens;
use crate::types::NewPlant;

/// Pages of the log after which it is copied into the store's file: SQLite's own default, 4 MiB
/// (<https://sqlite.org/c3ref/wal_autocheckpoint.html>). With more pages a create costs the same,
/// on 10 million plants too, and the slowest creates take longer.
const CHECKPOINT_PAGES: i32 = 1000;

/// More pages than this are not copied between two commits. They are there after a reader has held
/// the log for long, and [`Engine::tend`] copies them beside the commits.
///
/// [`Engine::tend`]: crate::store::Engine::tend
const TOO_MANY_PAGES: i64 = 4000;

const OPEN: &str = "open the store for writing";

pub struct SqliteWriter {
    connection: Connection,
    place: Place,
    log: File,
    /// The length of the log, in pages, after the last commit.
    log_pages: Arc<AtomicI32>,
    /// Its length at the last checkpoint. While a reader keeps the log from starting over, the next
    /// checkpoint comes after [`CHECKPOINT_PAGES`] more.
    checkpointed: i32,
    /// The salts of the log that carries a mark.
    marked: Option<[u8; 8]>,
    /// Whether the next transaction starts the log over.
    starts_over: bool,
    metrics: CheckpointMetrics,
    /// Held as long as the connection, see [`ServerLock`].
    _lock: Option<Arc<ServerLock>>,
}

impl SqliteWriter {
    pub fn open(path: &Path, lock: Option<Arc<ServerLock>>) -> Result<Self, StoreError> {
        let mut connection = connect(path).map_err(failed(OPEN))?;
        let place = Place::of(path).map_err(failed(OPEN))?;
        log::renew(&mut connection, &place).map_err(failed("renew the store's log"))?;
        Self::over(connection, place, lock).map_err(failed(OPEN))
    }

    fn over(
        mut connection: Connection,
        place: Place,
        lock: Option<Arc<ServerLock>>,
    ) -> Result<Self, Cause> {
        let log = File::open(place.log())?;
        // A log that a crash left may have its mark already; it must not get a second one.
        let is_marked = Mark::read(&connection)? != file::mark(place.store())?;
        let marked = if is_marked { log::salts(&log)? } else { None };
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
            marked,
            starts_over: false,
            metrics: CheckpointMetrics::register(),
            _lock: lock,
        })
    }
}

impl Writer for SqliteWriter {
    fn commit(&mut self, plants: &[NewPlant]) -> Result<Vec<Outcome>, CommitError> {
        self.transact(|transaction| put_all(transaction, plants))
    }

    fn try_write(&mut self) -> Result<(), CommitError> {
        self.transact(|transaction| tokens::touch(transaction))
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
            // It does not wait for a reader that is in the way.
            self.connection.busy_timeout(Duration::ZERO)?;
            let checkpointed = Checkpoint::Restart.run(&self.connection);
            self.connection.busy_timeout(BUSY_TIMEOUT)?;
            self.starts_over = checkpointed?.complete;
            if self.starts_over {
                self.metrics.done();
            }
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
        let transaction = self.connection.transaction()?;
        // Asked with the write lock: now only this transaction can start the log over.
        let salts = || log::salts(&self.log).map_err(|error| CommitError::Fault(error.into()));
        let is_unmarked = self.starts_over || self.marked.is_none() || salts()? != self.marked;
        if is_unmarked {
            Mark::write(&transaction)?;
        }
        let done = work(&transaction)?;
        transaction.commit()?;
        if is_unmarked {
            self.marked = salts()?;
            self.starts_over = false;
        }
        self.place.check()?;
        Ok(done)
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
