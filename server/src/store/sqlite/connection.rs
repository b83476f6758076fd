//! A connection on which a commit is durable.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::store::error::Cause;
use crate::store::sqlite::names::wal_of;

/// How long a statement waits for another process that holds the lock.
pub const BUSY_TIMEOUT: Duration = Duration::from_secs(4);

/// Above this many bytes the WAL's file is cut when the WAL starts over. A start after a crash
/// reads and rewrites the WAL, which takes some 2 ms for each MiB
/// (<https://sqlite.org/pragma.html#pragma_journal_size_limit>).
pub const WAL_BOUND: u32 = 32 * 1024 * 1024;

/// Opens the file, which must be there, or fails if a commit would not be durable. The WAL stays as it
/// is when the connection closes, see [`copy_wal_at_close`].
pub fn connect(path: &Path) -> Result<Connection, Cause> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    // SQLite reads a name that begins with `file:` as a URI; with `./` in front it is a path.
    let mut connection = Connection::open_with_flags(Path::new(".").join(path), flags)?;
    // If this fails, a WAL that was there before is left as it is: it may be a foreign one.
    let was_there = wal_of(path).metadata().is_ok_and(|wal| wal.len() > 0);
    copy_wal_at_close(&connection, !was_there)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_transaction_behavior(TransactionBehavior::Immediate);
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.pragma_update(None, "journal_size_limit", WAL_BOUND)?;
    let synchronous: i64 = connection.pragma_query_value(None, "synchronous", |row| row.get(0))?;
    let journal: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    if synchronous != 2 || journal != "wal" || connection.is_readonly("main")? {
        return Err(format!(
            "the file must be writable, with journal_mode=wal and synchronous=2, \
             and it has {journal} and {synchronous}"
        )
        .into());
    }
    copy_wal_at_close(&connection, false)?;
    Ok(connection)
}

/// Whether this connection, if it is the last, copies the WAL into the store's file and removes it
/// (<https://sqlite.org/c3ref/c_dbconfig_defensive.html#sqlitedbconfignockptonclose>).
pub fn copy_wal_at_close(connection: &Connection, copy: bool) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !copy).map(drop)
}
