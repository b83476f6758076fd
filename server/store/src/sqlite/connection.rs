//! Connections whose commits are durable.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::error::Cause;

/// SQLite truncates the WAL's file to this many bytes when the WAL is reset
/// (<https://sqlite.org/pragma.html#pragma_journal_size_limit>).
pub const WAL_BOUND: u32 = 32 * 1024 * 1024;

/// How long a statement waits for the lock of another connection.
pub const WAIT: Duration = Duration::from_secs(4);

/// The pause between two attempts to get the lock. SQLite has no queue for its write lock, and its
/// own busy handler backs off: beside a busy server a command might never get the lock.
pub const PAUSE: Duration = Duration::from_micros(200);

/// How a connection opens the store's file
/// (<https://sqlite.org/c3ref/open.html#coreuriqueryparameters>).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reading and writing.
    Write,
    /// Reading through the WAL and its index, without creating either of them.
    Read,
    /// Reading the file alone. Nobody may write to it, and no WAL may belong to it.
    Immutable,
}

/// Opens the file, which must exist.
pub fn connect(path: &Path, access: Access) -> rusqlite::Result<Connection> {
    let mut connection = Connection::open_with_flags(uri(path, access), FLAGS)?;
    wait_for_lock(&mut connection)?;
    connection.set_transaction_behavior(TransactionBehavior::Immediate);
    // This is the first statement that reads the file, so SQLite recovers the file here after a
    // crash: it rolls back a journal, or finds the committed pages in the WAL
    // (<https://sqlite.org/walformat.html#recovery>).
    connection.pragma_update(None, "synchronous", "full")?;
    // The service runs checkpoints itself, because an automatic checkpoint hides a failed fsync.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.pragma_update(None, "journal_size_limit", WAL_BOUND)?;
    Ok(connection)
}

/// The flags of a connection, which also limit what it can attach.
pub const FLAGS: OpenFlags = OpenFlags::SQLITE_OPEN_READ_WRITE
    .union(OpenFlags::SQLITE_OPEN_NO_MUTEX)
    .union(OpenFlags::SQLITE_OPEN_URI);

/// Returns the URI of a file. SQLite decodes `%XX` in the path to any byte.
pub fn uri(path: &Path, access: Access) -> String {
    const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/');
    // A leading `./` keeps a relative path relative.
    let path = Path::new(".").join(path);
    let path = percent_encode(path.as_os_str().as_bytes(), ESCAPED);
    let parameter = match access {
        Access::Write => "mode=rw",
        Access::Read => "mode=ro",
        Access::Immutable => "immutable=1",
    };
    format!("file:{path}?{parameter}")
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

/// Switches the file to WAL mode. It is in that mode already, unless another program created it,
/// for example by `VACUUM INTO`.
pub fn use_wal(connection: &Connection) -> Result<(), Cause> {
    let journal: String =
        connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    if journal == "wal" {
        Ok(())
    } else {
        Err(format!("SQLite cannot use a WAL here: its journal_mode stays {journal}").into())
    }
}

/// Sets whether this connection, if it is the last one to close, checkpoints and removes the WAL.
/// SQLite does that by default
/// (<https://sqlite.org/c3ref/c_dbconfig_defensive.html#sqlitedbconfignockptonclose>).
pub fn remove_wal_at_close(connection: &Connection, remove: bool) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !remove).map(drop)
}
