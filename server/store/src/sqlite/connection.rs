//! A connection on which a commit is durable.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::error::Cause;

/// Above this many bytes the WAL's file is cut
/// (<https://sqlite.org/pragma.html#pragma_journal_size_limit>).
pub const WAL_BOUND: u32 = 32 * 1024 * 1024;

/// How long a statement waits for the lock of another connection, and how often it asks. SQLite has
/// no queue for its write lock: with the growing pauses of its own, a command beside a busy server
/// may never get it.
pub const WAIT: Duration = Duration::from_secs(4);
pub const PAUSE: Duration = Duration::from_micros(200);

/// Opens the file, which must be there.
pub fn connect(path: &Path) -> rusqlite::Result<Connection> {
    // A restore attaches a backup by a URI.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    // SQLite reads a name that begins with `file:` as a URI; with `./` in front it is a path.
    let mut connection = Connection::open_with_flags(Path::new(".").join(path), flags)?;
    wait_for_lock(&mut connection)?;
    connection.set_transaction_behavior(TransactionBehavior::Immediate);
    // The first statement that reads the file: here SQLite recovers it after a crash. It rolls back
    // a journal, or finds in the WAL what is committed
    // (<https://sqlite.org/walformat.html#recovery>).
    connection.pragma_update(None, "synchronous", "full")?;
    // The service runs checkpoints itself: SQLite's automatic one hides an fsync that failed.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.pragma_update(None, "journal_size_limit", WAL_BOUND)?;
    Ok(connection)
}

/// Makes the connection wait for the locks of others, up to [`WAIT`].
pub fn wait_for_lock(connection: &mut Connection) -> rusqlite::Result<()> {
    let mut began = Instant::now();
    connection.busy_handler(Some(move |asked_before| {
        if asked_before == 0 {
            began = Instant::now();
        }
        thread::sleep(PAUSE);
        began.elapsed() < WAIT
    }))
}

/// Has the file use a WAL. It does already, unless another program has made it, such as by VACUUM
/// INTO.
pub fn use_wal(connection: &Connection) -> Result<(), Cause> {
    let journal: String =
        connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    if journal == "wal" {
        Ok(())
    } else {
        Err(format!("SQLite cannot use a WAL here: its journal_mode stays {journal}").into())
    }
}

/// Whether this connection, if it is the last one, copies the WAL into the store's file and removes
/// it, as SQLite does unless it is told otherwise
/// (<https://sqlite.org/c3ref/c_dbconfig_defensive.html#sqlitedbconfignockptonclose>).
pub fn remove_wal_at_close(connection: &Connection, remove: bool) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !remove).map(drop)
}
