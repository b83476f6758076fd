//! The connection that writes plants: the transaction of a batch, and the checkpoints of the WAL.

use std::path::Path;
use std::time::Duration;

use rusqlite::wal::CheckpointMode;
use rusqlite::{Connection, ErrorCode, Transaction};

use crate::engine::{Outcome, Row};
use crate::error::CommitError;
use crate::same_plant::is_same_plant;
use crate::sqlite::connection::{checkpoint, checkpoint_at_once, connect};
use crate::sqlite::header::Header;

/// Pages of the WAL after which it is copied into the store's file: SQLite's own default, 4 MiB
/// (<https://sqlite.org/c3ref/wal_autocheckpoint.html>). With more pages a create costs the same,
/// on 10 million plants too, and the slowest creates take longer.
const CHECKPOINT_PAGES: i64 = 1000;

/// More pages than this are not copied between two commits. There are that many after a reader has
/// kept the WAL from starting over. [`shorten`] copies them while commits go on.
const TOO_MANY_PAGES: i64 = 4000;

pub struct Writer {
    pub connection: Connection,
    pub header: Header,
    /// The WAL's length at the last checkpoint, in pages. While a reader keeps the WAL from
    /// starting over, the next checkpoint comes after [`CHECKPOINT_PAGES`] more.
    pub checkpointed: i64,
}

impl Writer {
    /// Commits the rows, each unless its id is taken.
    pub fn put(&mut self, rows: &[Row]) -> Result<Vec<Outcome>, CommitError> {
        Ok(transact(&mut self.connection, self.header, |transaction| {
            let mut insert = transaction.prepare_cached(
                "INSERT INTO plants (id, plant) VALUES (?1, ?2) ON CONFLICT (id) DO NOTHING",
            )?;
            let mut kept = transaction.prepare_cached("SELECT plant FROM plants WHERE id = ?1")?;
            let outcomes = rows.iter().map(|row| {
                if insert.execute((row.id, &*row.plant))? == 1 {
                    return Ok(Outcome::Created);
                }
                let is_same = kept.query_row([row.id], |kept| {
                    // A text that is not UTF-8 was written by somebody else: it is another plant.
                    Ok(kept.get_ref(0)?.as_str().is_ok_and(|kept| is_same_plant(kept, &row.plant)))
                })?;
                Ok(if is_same { Outcome::Repeated } else { Outcome::Conflict })
            });
            outcomes.collect()
        })?)
    }

    /// Says in the header whether a server has the store open.
    pub fn set_open(&mut self, is_open: bool) -> Result<(), CommitError> {
        let header = Header { is_open, ..self.header };
        Ok(transact(&mut self.connection, header, |transaction| header.write(transaction))?)
    }

    /// Copies the WAL into the file when it has grown.
    pub fn checkpoint_if_long(&mut self) -> Result<(), CommitError> {
        let Some(wal) = checkpoint(&self.connection, CheckpointMode::NOOP)? else {
            return Ok(());
        };
        // It may have started over.
        self.checkpointed = self.checkpointed.min(wal.pages);
        if wal.pages - self.checkpointed < CHECKPOINT_PAGES {
            return Ok(());
        }
        if wal.pages - wal.copied <= TOO_MANY_PAGES {
            let copied = checkpoint_at_once(&mut self.connection, CheckpointMode::RESTART);
            match copied.map_err(CommitError::from) {
                // If the disk is full under the store's file, the WAL may still take commits.
                Ok(_) | Err(CommitError::Unavailable(_)) => {}
                Err(cause) => return Err(cause),
            }
        }
        self.checkpointed = wal.pages;
        Ok(())
    }

    /// Steps 4 and 5 of `mod.rs`.
    pub fn close(&mut self) -> Result<(), CommitError> {
        let copied = checkpoint_at_once(&mut self.connection, CheckpointMode::RESTART)?;
        self.set_open(false)?;
        if copied.is_some() {
            checkpoint_at_once(&mut self.connection, CheckpointMode::TRUNCATE)?;
        }
        Ok(())
    }
}

/// One transaction of the service. It writes the store's id again, and so the first page.
pub fn transact<T>(
    connection: &mut Connection,
    header: Header,
    work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let transaction = connection.transaction()?;
    let write_id = format!("PRAGMA user_version = {}", header.id);
    transaction.prepare_cached(&write_id)?.execute([])?;
    let done = work(&transaction)?;
    transaction.commit()?;
    Ok(done)
}

/// Cuts the file of a WAL that is longer than it should be, beside a running writer.
///
/// It copies what no reader holds back any more. If much was committed meanwhile, the next call
/// goes on.
pub fn shorten(store: &Path, header: Header) -> Result<(), CommitError> {
    let mut connection = connect(store).map_err(CommitError::Unavailable)?;
    connection.busy_timeout(Duration::ZERO)?;
    let Some(wal) = checkpoint(&connection, CheckpointMode::PASSIVE)? else {
        return Ok(());
    };
    let is_behind = wal.pages - wal.copied > TOO_MANY_PAGES;
    if is_behind || checkpoint(&connection, CheckpointMode::RESTART)?.is_none() {
        return Ok(());
    }
    // The next transaction cuts the file. It must not be empty at any moment, see `mod.rs`.
    connection.pragma_update(None, "journal_size_limit", 0)?;
    match transact(&mut connection, header, |_| Ok(())) {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(()),
        cut => cut.map_err(CommitError::from),
    }
}
