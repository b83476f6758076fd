//! A connection on which a commit is durable.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::error::Cause;
use crate::sqlite::file::is_empty_wal;

/// How long a statement waits for the lock of another connection, and how often it asks. SQLite has
/// no queue for its write lock: with the growing pauses of its own, a command beside a busy server
/// may never get it.
const WAIT: Duration = Duration::from_secs(4);
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
        return Err(format!("{needed}, and it has {journal}").into());
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

/// How far a checkpoint goes (<https://sqlite.org/pragma.html#pragma_wal_checkpoint>).
#[derive(Clone, Copy, Debug)]
pub enum Checkpoint {
    /// It copies nothing, and says how much there is to copy.
    Noop,
    /// It copies what no reader holds back, beside a running writer.
    Passive,
    /// As `Passive`, and the WAL starts over with the next transaction.
    Restart,
    /// As `Restart`, and it empties the WAL's file.
    Truncate,
}

/// What a checkpoint found and did.
pub struct Checkpointed {
    /// Whether it did all that it was asked to. A reader, or another process's checkpoint, may be
    /// in its way; that says nothing about writes.
    pub complete: bool,
    /// The length of the WAL, in pages, and how many of them are in the store's file.
    pub pages: i64,
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
