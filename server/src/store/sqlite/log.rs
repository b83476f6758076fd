//! The write-ahead log: how it stays short, and how it is made durable after a crash.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use rusqlite::Connection;

use crate::descriptors::beyond_limit;
use crate::store::engine::{Cause, CommitError};
use crate::store::sqlite::checkpoint::Checkpoint;
use crate::store::sqlite::connection::{LOG_BOUND, connect};
use crate::store::sqlite::log_file::LogFile;
use crate::store::sqlite::place::Place;

/// More pages than this are not copied between two commits. They are there after a reader has held
/// the log for long, and [`Engine::tend`] copies them beside the commits.
///
/// [`Engine::tend`]: crate::store::Engine::tend
pub const TOO_MANY_PAGES: i64 = 4000;

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
pub fn renew(connection: &mut Connection, place: &Place, log: &LogFile) -> Result<(), Cause> {
    // With the write lock, no other process appends to the log or starts it over.
    let _lock = connection.transaction()?;
    // SQLite does not tell the length of the log inside a transaction, so another connection asks.
    let other = connect(place.store())?;
    let pages = u64::try_from(Checkpoint::Noop.run(&other)?.pages)?;
    let valid = log.header()?.map_or(0, |header| header.length(pages));
    let path = place.log();
    let file = File::options().read(true).write(true).open(path)?;
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
    Ok(File::open(path.parent().unwrap_or(path))?.sync_all()?)
}
