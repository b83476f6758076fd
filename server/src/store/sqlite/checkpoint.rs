//! How the WAL is copied into the store's file.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode};

use crate::store::error::CommitError;
use crate::store::sqlite::connection::{FULL, connect, transact, wait_for_lock};
use crate::store::sqlite::header::Header;

/// More pages than this are not copied between two commits. There are that many after a reader has
/// kept the WAL from starting over. [`shorten`] copies them while commits go on.
pub const TOO_MANY_PAGES: i64 = 4000;

/// How far a checkpoint goes (<https://sqlite.org/pragma.html#pragma_wal_checkpoint>).
#[derive(Clone, Copy, Debug)]
pub enum Checkpoint {
    /// It copies nothing, and says how much there is to copy.
    Noop,
    /// It copies what no reader holds back, beside a running writer.
    Passive,
    /// As `Passive`, and the WAL starts over with the next transaction. Until then its file keeps
    /// what it has.
    Restart,
    /// As `Restart`, and it empties the WAL's file.
    Truncate,
}

/// What a checkpoint found and did.
pub struct Checkpointed {
    /// Whether it did all that it was asked to. A reader, or another process's checkpoint, may be
    /// in its way; that says nothing about writes.
    pub complete: bool,
    /// The length of the WAL, in pages.
    pub pages: i64,
    /// How many of them are in the store's file.
    pub copied: i64,
}

impl Checkpoint {
    /// Runs the checkpoint. It waits for the disk, and for others as the connection does.
    pub fn run(self, connection: &Connection) -> rusqlite::Result<Checkpointed> {
        // SQLite takes the names of the modes in any case.
        let checkpoint = format!("PRAGMA wal_checkpoint({self:?})");
        connection.prepare_cached(&checkpoint)?.query_row([], |row| {
            let complete = row.get::<_, i64>(0)? == 0;
            Ok(Checkpointed { complete, pages: row.get(1)?, copied: row.get(2)? })
        })
    }

    /// Runs the checkpoint, and waits for nobody but the disk.
    pub fn run_at_once(self, connection: &mut Connection) -> rusqlite::Result<Checkpointed> {
        connection.busy_timeout(Duration::ZERO)?;
        let checkpointed = self.run(connection);
        wait_for_lock(connection)?;
        checkpointed
    }
}

/// Cuts the file of a WAL that is longer than it should be, beside a running writer.
///
/// It copies what no reader holds back any more. If much was committed meanwhile, the next call goes on.
pub fn shorten(store: &Path, header: Header) -> Result<(), CommitError> {
    let mut connection = connect(store, FULL).map_err(CommitError::Unavailable)?;
    connection.busy_timeout(Duration::ZERO)?;
    let copied = Checkpoint::Passive.run(&connection)?;
    if copied.pages - copied.copied > TOO_MANY_PAGES
        || !Checkpoint::Restart.run(&connection)?.complete
    {
        return Ok(());
    }
    // The next transaction cuts the file. It must not be empty at any moment, see `mod.rs`.
    connection.pragma_update(None, "journal_size_limit", 0)?;
    match transact(&mut connection, header, |_| Ok(())) {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(()),
        cut => cut.map_err(CommitError::from),
    }
}
