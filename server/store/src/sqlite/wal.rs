//! Connections whose commits are durable, and checkpoints: when the WAL is copied into the store's
//! file, and how long the WAL may grow.
//!
//! An fsync of the previous process may have failed. Then the kernel still shows pages of the WAL
//! that are not on the disk, and a power cut would lose them together with everything that is
//! committed behind them. So before a server answers any request, it copies the whole WAL into the
//! store's file, syncs the file, and empties the WAL.

use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use rusqlite::config::DbConfig;
use rusqlite::wal::CheckpointMode;
use rusqlite::{Connection, ErrorCode, MAIN_DB, OpenFlags, TransactionBehavior};

use crate::error::{Error, Kind};
use crate::sqlite::files::{sync_folder_of, wal_of};

/// SQLite truncates the WAL's file to this many bytes when the WAL is reset
/// (<https://sqlite.org/pragma.html#pragma_journal_size_limit>).
pub const WAL_BOUND: u32 = 32 * 1024 * 1024;

/// How long a statement waits for the lock of another connection.
pub const WAIT: Duration = Duration::from_secs(4);

/// The pause between two attempts to get the lock. SQLite has no queue for its write lock, and its
/// own busy handler backs off: beside a busy server a command might never get the lock.
pub const PAUSE: Duration = Duration::from_micros(200);

/// Opens the file, which must exist.
pub fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let mut connection = Connection::open_with_flags(uri(path), FLAGS)?;
    wait_for_lock(&mut connection)?;
    connection.set_transaction_behavior(TransactionBehavior::Immediate);
    // This is the first statement that reads the file, so SQLite recovers the file here after a
    // crash: it rolls back a journal, or finds the committed pages in the WAL
    // (<https://sqlite.org/walformat.html#recovery>).
    connection.pragma_update(None, "synchronous", "extra")?;
    // The service runs checkpoints itself, because an automatic checkpoint hides a failed fsync.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.pragma_update(None, "journal_size_limit", WAL_BOUND)?;
    Ok(connection)
}

/// The flags of a connection.
pub const FLAGS: OpenFlags = OpenFlags::SQLITE_OPEN_READ_WRITE
    .union(OpenFlags::SQLITE_OPEN_NO_MUTEX)
    .union(OpenFlags::SQLITE_OPEN_URI);

/// Returns the URI of a file that exists. SQLite decodes `%XX` in the path to any byte
/// (<https://sqlite.org/c3ref/open.html#coreuriqueryparameters>).
pub fn uri(path: &Path) -> String {
    const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/');
    // A leading `./` keeps a relative path relative.
    let path = Path::new(".").join(path);
    let path = percent_encode(path.as_os_str().as_bytes(), ESCAPED);
    format!("file:{path}?mode=rw")
}

/// Makes the connection wait up to [`WAIT`] for the locks of other connections.
pub fn wait_for_lock(connection: &mut Connection) -> rusqlite::Result<()> {
    let mut began = Instant::now();
    connection.busy_handler(Some(move |earlier_calls| {
        if earlier_calls == 0 {
            began = Instant::now();
        }
        thread::sleep(PAUSE);
        began.elapsed() < WAIT
    }))
}

/// Switches the file to WAL mode. It is in that mode already, unless it is a copy.
pub fn use_wal(connection: &Connection) -> Result<(), Error> {
    let journal: String =
        connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    if journal == "wal" {
        Ok(())
    } else {
        let message = format!("SQLite cannot use a WAL here: its journal_mode stays {journal}");
        Err(Error::new(Kind::Other, message))
    }
}

/// Sets whether this connection, if it is the last one to close, checkpoints and removes the WAL.
/// SQLite does that by default
/// (<https://sqlite.org/c3ref/c_dbconfig_defensive.html#sqlitedbconfignockptonclose>).
pub fn remove_wal_at_close(connection: &Connection, remove: bool) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !remove).map(drop)
}

/// The number of WAL pages after which a checkpoint runs: SQLite's own default, 4 MiB
/// (<https://sqlite.org/c3ref/wal_autocheckpoint.html>). With more pages a create costs the same,
/// also on 10 million rows, but the slowest creates take longer.
const CHECKPOINT_PAGES: i32 = 1000;

/// Runs a checkpoint (<https://sqlite.org/c3ref/wal_checkpoint_v2.html>). It waits for the disk,
/// and for locks as configured on the connection. Returns the number of pages in the WAL.
///
/// Returns `None` if the checkpoint could not complete, because a reader or the checkpoint of
/// another process blocked it. That says nothing about whether the store takes writes.
fn wal_checkpoint(connection: &Connection, mode: CheckpointMode) -> rusqlite::Result<Option<i32>> {
    match connection.wal_checkpoint_v2(Some(MAIN_DB), mode) {
        Ok((pages, _)) => Ok(Some(pages)),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Runs a checkpoint that waits for the disk, but not for other programs. Returns whether it
/// completed.
pub fn try_checkpoint(connection: &mut Connection, mode: CheckpointMode) -> rusqlite::Result<bool> {
    connection.busy_timeout(Duration::ZERO)?;
    let wal = wal_checkpoint(connection, mode);
    wait_for_lock(connection)?;
    Ok(wal?.is_some())
}

/// Copies the whole WAL into the store's file, syncs the file, and empties the WAL.
///
/// SQLite waits for readers and writers, but not for another checkpoint
/// (<https://sqlite.org/c3ref/wal_checkpoint_v2.html>). This function waits for one as long as for
/// a lock.
pub fn checkpoint_truncate(connection: &Connection) -> Result<(), Error> {
    let began = Instant::now();
    while wal_checkpoint(connection, CheckpointMode::TRUNCATE)?.is_none() {
        if began.elapsed() >= WAIT {
            let message = "another program is reading the store, or running a checkpoint of it; \
                stop it first";
            return Err(Error::new(Kind::Unavailable, message));
        }
        thread::sleep(PAUSE);
    }
    Ok(())
}

/// Syncs the empty WAL and its name. SQLite does not, and after a power cut the disk could show an
/// older state of the WAL than the one that was copied.
pub fn sync_empty_wal(store: &Path) -> io::Result<()> {
    let wal = wal_of(store);
    File::open(&wal)?.sync_all()?;
    sync_folder_of(&wal)
}

/// Runs a checkpoint before a commit if the WAL has grown enough. While a reader keeps the WAL from
/// being reset, this tries again before each commit, and finds nothing to copy.
pub fn checkpoint_if_long(connection: &mut Connection) -> Result<(), Error> {
    let pages = wal_checkpoint(connection, CheckpointMode::NOOP)?;
    if pages.is_none_or(|pages| pages < CHECKPOINT_PAGES) {
        return Ok(());
    }
    match try_checkpoint(connection, CheckpointMode::RESTART).map_err(Error::from) {
        // If the disk is too full for the store's file, the WAL may still take commits.
        Err(cause) if !cause.may_pass() => Err(cause),
        _ => Ok(()),
    }
}
