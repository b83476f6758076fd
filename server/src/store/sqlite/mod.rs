//! SQLite: the embedded engine.
//!
//! Write-ahead log and `synchronous=FULL`: a commit returns when the log is synced, and that is
//! all the durability there is (<https://sqlite.org/pragma.html#pragma_synchronous>). Checkpoints
//! are run by hand, because SQLite's automatic one keeps a failed sync to itself
//! (<https://sqlite.org/c3ref/wal_autocheckpoint.html>).
//!
//! Nothing here may open the database file but SQLite: closing another descriptor of it would
//! drop SQLite's locks (<https://sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_>).

mod create;
mod tokens;
mod writer;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::{Cause, CommitError, Engine, Snapshot, StoreError, StoreUrl, StoredToken, Writer};
use crate::api::NewPlant;

pub use create::create;

/// "PLNT": how a plant store is told from any other SQLite database
/// (<https://sqlite.org/fileformat2.html#application_id>).
const APPLICATION_ID: u32 = 0x504c_4e54;

/// The schema that this release reads and writes, in the database's `user_version`.
const SCHEMA_VERSION: u32 = 1;

/// How long a statement waits for another process, in a store that several have open.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// A plant store in a file, its log and its index beside it (`-wal`, `-shm`).
pub struct Sqlite {
    path: PathBuf,
    /// For the tokens, and to keep the log in place between other connections.
    connection: Mutex<Connection>,
}

impl Sqlite {
    /// Opens the store in that file, and refuses any other file as it is.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        create::check(path)?;
        let connection = connect(path).map_err(failed("open the store"))?;
        // Again, and now with the log: the file alone may be older than the store.
        create::check_schema(&connection, path)?;
        Ok(Self { path: path.to_owned(), connection: Mutex::new(connection) })
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        // A panic between two statements leaves a connection as good as it was.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine for Sqlite {
    fn writer(&self) -> Result<Box<dyn Writer>, StoreError> {
        let writer = writer::SqliteWriter::open(&self.path)?;
        // This connection is the last of a server; and the log is renewed now.
        copy_log_at_close(&self.connection(), true).map_err(failed("open the store"))?;
        Ok(Box::new(writer))
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        let begin = || -> Result<Connection, Cause> {
            let connection = connect(&self.path)?;
            connection.execute_batch("BEGIN DEFERRED")?;
            // The first read is what fixes the view.
            connection.query_row(
                "SELECT count(*) FROM (SELECT 1 FROM plants LIMIT 1)",
                [],
                |_| Ok(()),
            )?;
            Ok(connection)
        };
        Ok(Box::new(SqliteSnapshot(begin().map_err(failed("read the plants"))?)))
    }

    fn tokens(&self) -> Result<Vec<StoredToken>, StoreError> {
        tokens::all(&self.connection()).map_err(failed("read the tokens"))
    }

    fn add_token(&self, token: &StoredToken) -> Result<(), StoreError> {
        tokens::add(&self.connection(), token)
    }

    fn revoke_token(&self, name: &str) -> Result<(), StoreError> {
        tokens::revoke(&self.connection(), name)
    }
}

/// A connection inside a read transaction, which ends with it.
struct SqliteSnapshot(Connection);

impl Snapshot for SqliteSnapshot {
    fn count(&self) -> Result<u64, StoreError> {
        self.0
            .query_row("SELECT count(*) FROM plants", [], |row| row.get::<_, i64>(0))
            .map(i64::unsigned_abs)
            .map_err(failed("count the plants"))
    }

    fn visit(&self, visitor: &mut dyn FnMut(NewPlant) -> io::Result<()>) -> Result<(), StoreError> {
        let read = failed("read the plants");
        let mut statement =
            self.0.prepare("SELECT id, name, tag FROM plants ORDER BY id").map_err(&read)?;
        let mut rows = statement.query([]).map_err(&read)?;
        while let Some(row) = rows.next().map_err(&read)? {
            let plant = NewPlant {
                id: row.get(0).map_err(&read)?,
                name: row.get(1).map_err(&read)?,
                tag: row.get(2).map_err(&read)?,
            };
            visitor(plant).map_err(StoreError::Visit)?;
        }
        Ok(())
    }
}

/// A connection on which a commit is durable, or no connection.
fn connect(path: &Path) -> Result<Connection, Cause> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    // A name that begins with `file:` would be read as a URI; after `./` nothing is.
    let mut connection = Connection::open_with_flags(Path::new(".").join(path), flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_transaction_behavior(TransactionBehavior::Immediate);
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    let synchronous: i64 = connection.pragma_query_value(None, "synchronous", |row| row.get(0))?;
    let journal: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    if synchronous != 2 || journal != "wal" || connection.is_readonly("main")? {
        return Err(format!(
            "the file must be writable, with journal_mode=wal and synchronous=2, \
             and it has {journal} and {synchronous}"
        )
        .into());
    }
    // What a crash left may never have been synced: to copy it waits for the writer, who renews it.
    copy_log_at_close(&connection, log_of(path)?.metadata().is_ok_and(|log| log.len() == 0))?;
    Ok(connection)
}

/// The write-ahead log of the store: beside the file itself, wherever a link to it may be.
fn log_of(path: &Path) -> io::Result<PathBuf> {
    let mut log = path.canonicalize()?.into_os_string();
    log.push("-wal");
    Ok(log.into())
}

/// Whether this connection, if it is the last, copies the log into the database and removes it
/// (<https://sqlite.org/c3ref/c_dbconfig_defensive.html#sqlitedbconfignockptonclose>).
fn copy_log_at_close(connection: &Connection, copy: bool) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !copy).map(drop)
}

fn failed<E: Into<Cause>>(doing: &'static str) -> impl Fn(E) -> StoreError {
    move |cause| StoreError::Failed { doing, cause: cause.into() }
}

fn url(path: &Path) -> StoreUrl {
    StoreUrl::Sqlite(path.to_owned())
}

/// Which promise is left after an error (<https://sqlite.org/rescode.html>).
impl From<rusqlite::Error> for CommitError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ffi::{SQLITE_IOERR_DIR_FSYNC, SQLITE_IOERR_FSYNC};

        let Some(code) = error.sqlite_error().copied() else { return Self::Fault(error.into()) };
        match (code.code, code.extended_code) {
            (_, SQLITE_IOERR_FSYNC | SQLITE_IOERR_DIR_FSYNC) => Self::SyncFailed(error.into()),
            (
                ErrorCode::DiskFull
                | ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::OutOfMemory
                | ErrorCode::CannotOpen,
                _,
            ) => Self::Unavailable(error.into()),
            _ => Self::Fault(error.into()),
        }
    }
}
