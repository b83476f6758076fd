//! How the WAL is copied into the store's file.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

use crate::store::error::CommitError;
use crate::store::sqlite::connection::connect;

/// More pages than this are not copied between two commits. There are that many after
/// a reader has kept the WAL from starting over. [`shorten`] copies them while commits go on.
pub const TOO_MANY_PAGES: i64 = 4000;

/// How far a checkpoint goes (<https://sqlite.org/pragma.html#pragma_wal_checkpoint>).
#[derive(Clone, Copy)]
pub enum Checkpoint {
    /// It copies nothing, and says how much there is to copy.
    Noop,
    /// It copies what no reader holds back, beside a running writer.
    Passive,
    /// As `Passive`, and the WAL starts over with the next transaction.
    Restart,
    /// As `Restart`, and it cuts the WAL's file.
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

/// Cuts the file of a WAL that is longer than it should be, beside a running writer.
///
/// It copies what no reader holds back any more. If commits go on meanwhile, the writer then finds
/// little left to copy, and starts the WAL over itself.
pub fn shorten(store: &Path) -> Result<(), CommitError> {
    let connection = connect(store).map_err(CommitError::Unavailable)?;
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
