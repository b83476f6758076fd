//! The write-ahead log: how it is copied into the store's file, how it stays short, and how it is
//! made durable after a crash.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use rusqlite::Connection;

use crate::descriptors::beyond_limit;
use crate::store::engine::{Cause, CommitError};
use crate::store::sqlite::connection::{LOG_BOUND, connect};
use crate::store::sqlite::place::{FRAME_HEADER, HEADER, Place};

/// More pages than this are not copied between two commits. They are there after a reader has held
/// the log for long, and [`Engine::tend`] copies them beside the commits.
///
/// [`Engine::tend`]: crate::store::Engine::tend
pub const TOO_MANY_PAGES: i64 = 4000;

/// How far a checkpoint goes (<https://sqlite.org/pragma.html#pragma_wal_checkpoint>).
#[derive(Clone, Copy)]
pub enum Checkpoint {
    /// Nowhere: it only looks.
    Noop,
    /// It copies what no reader holds back, beside a running writer.
    Passive,
    /// And lets the log start over with the next transaction.
    Restart,
    /// And cuts the log's file.
    Truncate,
}

/// What a checkpoint found and did.
pub struct Checkpointed {
    /// Whether it did all that it was asked to. A reader, or another process's checkpoint, may be
    /// in its way; that says nothing about writes.
    pub complete: bool,
    /// The length of the log, in pages.
    pub pages: i64,
    /// How many of them are in the store's file.
    pub copied: i64,
}

impl Checkpoint {
    /// Runs the checkpoint. It waits for nobody but the disk.
    pub fn run(self, connection: &Connection) -> rusqlite::Result<Checkpointed> {
        let mode = match self {
            Self::Noop => "noop",
            Self::Passive => "passive",
            Self::Restart => "restart",
            Self::Truncate => "truncate",
        };
        let checkpoint = format!("PRAGMA wal_checkpoint({mode})");
        connection.prepare_cached(&checkpoint)?.query_row([], |row| {
            let complete = row.get::<_, i64>(0)? == 0;
            Ok(Checkpointed { complete, pages: row.get(1)?, copied: row.get(2)? })
        })
    }
}

/// Cuts the log's file where it is longer than it should be, beside a running writer.
///
/// It copies what no reader holds back any more. Where commits go on meanwhile, the writer then
/// finds little left to copy, and starts the log over itself.
pub fn shorten(place: &Place) -> Result<(), CommitError> {
    let unavailable = |error: io::Error| CommitError::Unavailable(error.into());
    if place.log_length().map_err(unavailable)? <= LOG_BOUND.into() {
        return Ok(());
    }
    let connection = beyond_limit(|| connect(place.store())).map_err(CommitError::Unavailable)?;
    connection.busy_timeout(Duration::ZERO)?;
    let mut copied = -1;
    loop {
        let now = Checkpoint::Passive.run(&connection)?;
        // The writer, or the last checkpoint, copies the rest.
        if now.copied <= copied || now.pages - now.copied <= TOO_MANY_PAGES {
            break;
        }
        copied = now.copied;
    }
    Checkpoint::Truncate.run(&connection).map(drop).map_err(CommitError::from)
}

/// Makes durable what the log holds, before anything is answered or written after it.
///
/// A killed process may not have reached its fsync. After an fsync that failed, the kernel may have
/// marked pages clean that are not on the disk (<https://lwn.net/Articles/752063/>), so another
/// fsync alone proves nothing. Rewriting the bytes marks the pages dirty again, so the next fsync
/// really writes them. What lies behind the last valid page is left: nothing reads it.
pub fn renew(connection: &mut Connection, place: &Place) -> Result<(), Cause> {
    // With the write lock, no other process appends to the log or starts it over.
    let _lock = connection.transaction()?;
    // SQLite does not tell the length of the log inside a transaction, so another connection asks.
    let other = connect(place.store())?;
    let pages = Checkpoint::Noop.run(&other)?.pages;
    let page_size: u32 = other.pragma_query_value(None, "page_size", |row| row.get(0))?;
    let valid =
        HEADER as u64 + u64::try_from(pages)? * (FRAME_HEADER as u64 + u64::from(page_size));
    let log = place.log();
    let file = File::options().read(true).write(true).open(log)?;
    let mut piece = vec![0; 1024 * 1024];
    let mut offset = 0;
    while offset < valid {
        let length = piece.len().min(usize::try_from(valid - offset)?);
        let read = file.read_at(&mut piece[..length], offset)?;
        if read == 0 {
            break;
        }
        file.write_all_at(&piece[..read], offset)?;
        offset += read as u64;
    }
    file.sync_all()?;
    // The names of the store and of its log are durable once their folder is synced. SQLite
    // ignores a failure of that fsync.
    Ok(File::open(log.parent().unwrap_or(log))?.sync_all()?)
}
