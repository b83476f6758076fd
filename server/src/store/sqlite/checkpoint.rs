//! How the write-ahead log is copied into the store's file.

use rusqlite::Connection;

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
