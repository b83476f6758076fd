//! A connection on which a commit is durable.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::wal::CheckpointMode;
use rusqlite::{Connection, ErrorCode, MAIN_DB, OpenFlags, TransactionBehavior};

use crate::error::Cause;
use crate::sqlite::files::is_empty_wal;

/// How long a statement waits for the lock of another connection, and how often it asks. SQLite has
/// no queue for its write lock: with the growing pauses of its own, a command beside a busy server
/// may never get it.
pub const WAIT: Duration = Duration::from_secs(4);
const PAUSE: Duration = Duration::from_micros(200);

/// Above this many bytes the WAL's file is cut when the WAL starts over
/// (<https://sqlite.org/pragma.html#pragma_journal_size_limit>).
pub const WAL_BOUND: u32 = 32 * 1024 * 1024;

/// Opens the file, which must be there, or fails if a commit would not be durable. Unless a WAL is
/// there, closing the connection removes what opening it has made.
pub fn connect(path: &Path) -> Result<Connection, Cause> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    // SQLite reads a name that begins with `file:` as a URI; with `./` in front it is a path.
    let mut connection = Connection::open_with_flags(Path::new(".").join(path), flags)?;
    copy_wal_at_close(&connection, is_empty_wal(path))?;
    wait_for_lock(&mut connection)?;
    connection.set_transaction_behavior(TransactionBehavior::Immediate);
    connection.pragma_update(None, "synchronous", "full")?;
    // The service runs checkpoints itself: SQLite's automatic one hides an fsync that failed.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.pragma_update(None, "journal_size_limit", WAL_BOUND)?;
    let journal: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    if journal != "wal" || connection.is_readonly("main")? {
        let needed = "the file must be writable, with journal_mode=wal";
        let advice = "`sqlite3 FILE 'PRAGMA journal_mode=wal'` changes it, such as for a copy by \
                      VACUUM INTO";
        return Err(format!("{needed}, and it has {journal}: {advice}").into());
    }
    Ok(connection)
}

/// Makes the connection wait for the locks of others, up to [`WAIT`].
fn wait_for_lock(connection: &mut Connection) -> rusqlite::Result<()> {
    let mut began = Instant::now();
    connection.busy_handler(Some(move |asked_before| {
        if asked_before == 0 {
            began = Instant::now();
        }
        thread::sleep(PAUSE);
        began.elapsed() < WAIT
    }))
}

/// Whether this connection, if it is the last, copies the WAL into the store's file and removes it
/// (<https://sqlite.org/c3ref/c_dbconfig_defensive.html#sqlitedbconfignockptonclose>).
pub fn copy_wal_at_close(connection: &Connection, copy: bool) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !copy).map(drop)
}

/// How much there is in the WAL.
pub struct Wal {
    pub pages: i64,
    /// How many of them are in the store's file.
    pub copied: i64,
}

/// Runs a checkpoint (<https://sqlite.org/c3ref/wal_checkpoint_v2.html>). It waits for the disk,
/// and for others as the connection does. None if it did not do all that it was asked to: a reader,
/// or another process's checkpoint, is in its way. That says nothing about writes.
pub fn checkpoint(connection: &Connection, mode: CheckpointMode) -> rusqlite::Result<Option<Wal>> {
    match connection.wal_checkpoint_v2(Some(MAIN_DB), mode) {
        Ok((pages, copied)) => Ok(Some(Wal { pages: pages.into(), copied: copied.into() })),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Runs a checkpoint that waits for nobody but the disk.
pub fn checkpoint_at_once(
    connection: &mut Connection,
    mode: CheckpointMode,
) -> rusqlite::Result<Option<Wal>> {
    connection.busy_timeout(Duration::ZERO)?;
    let wal = checkpoint(connection, mode);
    wait_for_lock(connection)?;
    wal
}

/// Why the WAL was not copied into the store's file and does not start over.
#[derive(Debug, thiserror::Error)]
pub enum NotCopied {
    #[error("another program reads the store for long; end it first")]
    Reader,
    #[error(
        "another program runs a checkpoint of the store for long; start again when it has ended"
    )]
    Checkpoint,
    #[error(transparent)]
    Failed(#[from] rusqlite::Error),
}

/// Copies the whole WAL into the store's file, and has it start over with the next transaction.
///
/// SQLite waits for readers and writers, but not for another checkpoint
/// (<https://sqlite.org/c3ref/wal_checkpoint_v2.html>): this waits for one as it does for a lock.
pub fn copy_wal(connection: &Connection) -> Result<(), NotCopied> {
    let began = Instant::now();
    while checkpoint(connection, CheckpointMode::RESTART)?.is_none() {
        if began.elapsed() >= WAIT {
            // Only another checkpoint is in the way of one that waits for no reader.
            let passive = checkpoint(connection, CheckpointMode::PASSIVE)?;
            return Err(if passive.is_some() { NotCopied::Reader } else { NotCopied::Checkpoint });
        }
        thread::sleep(PAUSE);
    }
    Ok(())
}
