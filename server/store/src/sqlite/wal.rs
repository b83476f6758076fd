//! The WAL: when it is copied into the store's file (a checkpoint), and how long it may become.
//!
//! An fsync of the process before may have failed. Then the kernel still shows pages of the WAL
//! that the disk does not have, and what is committed behind them would be lost with them at a
//! power cut. So a server copies the whole WAL into the file, syncs the file, and empties the WAL,
//! before it answers anything.

use std::fs::File;
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::wal::CheckpointMode;
use rusqlite::{Connection, ErrorCode, MAIN_DB};

use crate::error::{Cause, WriteError};
use crate::sqlite::connection::{PAUSE, WAIT, connect, wait_for_lock};
use crate::sqlite::files::{sync_folder_of, wal_of};

/// Pages of the WAL after which it is copied into the store's file: SQLite's own default, 4 MiB
/// (<https://sqlite.org/c3ref/wal_autocheckpoint.html>). With more pages a create costs the same,
/// on 10 million rows too, and the slowest creates take longer.
const CHECKPOINT_PAGES: i64 = 1000;

/// More pages than this are not copied between two commits. There are that many after a reader has
/// kept the WAL from starting over. [`shorten`] copies them while commits go on.
const TOO_MANY_PAGES: i64 = 4000;

/// How much there is in the WAL.
struct Wal {
    pages: i64,
    /// How many of them are in the store's file.
    copied: i64,
}

/// Runs a checkpoint (<https://sqlite.org/c3ref/wal_checkpoint_v2.html>). It waits for the disk,
/// and for others as the connection does. None if it did not do all that it was asked to: a reader,
/// or another process's checkpoint, is in its way. That says nothing about writes.
fn checkpoint(connection: &Connection, mode: CheckpointMode) -> rusqlite::Result<Option<Wal>> {
    match connection.wal_checkpoint_v2(Some(MAIN_DB), mode) {
        Ok((pages, copied)) => Ok(Some(Wal { pages: pages.into(), copied: copied.into() })),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Runs a checkpoint that waits for nobody but the disk. Returns whether it did all that it was
/// asked to.
fn checkpoint_at_once(connection: &mut Connection, mode: CheckpointMode) -> rusqlite::Result<bool> {
    connection.busy_timeout(Duration::ZERO)?;
    let wal = checkpoint(connection, mode);
    wait_for_lock(connection)?;
    Ok(wal?.is_some())
}

#[derive(Debug, thiserror::Error)]
#[error("another program reads the store, or runs a checkpoint of it, for long; end it first")]
struct InTheWay;

/// Copies the whole WAL into the store's file, syncs the file, and empties the WAL.
///
/// SQLite waits for readers and writers, but not for another checkpoint
/// (<https://sqlite.org/c3ref/wal_checkpoint_v2.html>): this waits for one as it does for a lock.
pub fn copy_wal(connection: &Connection) -> Result<(), Cause> {
    let began = Instant::now();
    while checkpoint(connection, CheckpointMode::TRUNCATE)?.is_none() {
        if began.elapsed() >= WAIT {
            return Err(InTheWay.into());
        }
        thread::sleep(PAUSE);
    }
    Ok(())
}

/// The same, if nobody is in its way. Returns whether nobody was.
pub fn copy_wal_at_once(connection: &mut Connection) -> rusqlite::Result<bool> {
    checkpoint_at_once(connection, CheckpointMode::TRUNCATE)
}

/// Makes it durable that the WAL is empty, and its name. SQLite does not, and after a power cut the
/// disk could show an older state of the WAL than the one that was copied.
pub fn sync_empty_wal(store: &Path) -> io::Result<()> {
    let wal = wal_of(store);
    File::open(&wal)?.sync_all()?;
    sync_folder_of(&wal)
}

/// The checkpoints between the commits of one connection.
#[derive(Default)]
pub struct Checkpoints {
    /// The WAL's length at the last one, in pages. While a reader keeps the WAL from starting over,
    /// the next one comes after [`CHECKPOINT_PAGES`] more.
    last: i64,
}

impl Checkpoints {
    /// Copies the WAL into the file when it has grown.
    pub fn run_if_long(&mut self, connection: &mut Connection) -> Result<(), WriteError> {
        let Some(wal) = checkpoint(connection, CheckpointMode::NOOP)? else {
            return Ok(());
        };
        // It may have started over.
        self.last = self.last.min(wal.pages);
        if wal.pages - self.last < CHECKPOINT_PAGES {
            return Ok(());
        }
        if wal.pages - wal.copied <= TOO_MANY_PAGES {
            let copied = checkpoint_at_once(connection, CheckpointMode::RESTART);
            match copied.map_err(WriteError::from) {
                // If the disk is full under the store's file, the WAL may still take commits.
                Ok(_) | Err(WriteError::Unavailable(_)) => {}
                Err(cause) => return Err(cause),
            }
        }
        self.last = wal.pages;
        Ok(())
    }
}

/// Cuts the file of a WAL that is longer than it should be, beside a running writer.
///
/// It copies what no reader holds back any more. If much was committed meanwhile, the next call
/// goes on.
pub fn shorten(store: &Path) -> Result<(), WriteError> {
    let connection = connect(store)?;
    connection.busy_timeout(Duration::ZERO)?;
    if let Some(wal) = checkpoint(&connection, CheckpointMode::PASSIVE)?
        && wal.pages - wal.copied <= TOO_MANY_PAGES
    {
        checkpoint(&connection, CheckpointMode::TRUNCATE)?;
    }
    Ok(())
}
