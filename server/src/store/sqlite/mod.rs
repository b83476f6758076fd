//! SQLite: the embedded engine.
//!
//! Write-ahead log and `synchronous=FULL`: a commit returns when the log is synced, and that makes
//! it durable (<https://sqlite.org/pragma.html#pragma_synchronous>). The writer runs checkpoints
//! itself, because SQLite's automatic one does not report a failed fsync
//! (<https://sqlite.org/c3ref/wal_autocheckpoint.html>).
//!
//! Only SQLite may open the database file: closing another descriptor of it would drop SQLite's
//! locks (<https://sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_>).

mod connection;
mod error;
mod file;
mod schema;
mod snapshot;
mod tokens;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;

use crate::store::engine::{Cause, Engine, Snapshot, StoreError, Writer};
use crate::store::sqlite::connection::{connect, copy_log_at_close};
use crate::store::sqlite::error::{failed, url};
use crate::store::sqlite::snapshot::SqliteSnapshot;
use crate::store::sqlite::writer::SqliteWriter;
use crate::token::{StoredToken, TokenName};

/// A plant store in a file, its log and the log's index beside it (`-wal`, `-shm`).
pub struct Sqlite {
    path: PathBuf,
    /// For the tokens. It also keeps the log in place while no other connection is open.
    connection: Mutex<Connection>,
}

/// See [`crate::store::prepare`].
pub fn prepare(path: &Path) -> Result<bool, StoreError> {
    if file::create(path)? {
        return Ok(true);
    }
    let mut connection = recognised(path)?;
    if file::version(&connection, path)? < schema::VERSION {
        connection
            .transaction()
            .and_then(|transaction| {
                schema::bring_up_to_date(&transaction)?;
                transaction.commit()
            })
            .map_err(failed("bring the store up to date"))?;
    }
    Ok(false)
}

/// Connects to a plant store. Any other file is refused and not changed.
fn recognised(path: &Path) -> Result<Connection, StoreError> {
    file::check(path)?;
    connect(path).map_err(failed("open the store"))
}

impl Sqlite {
    /// Opens the store in that file, which has the schema of this release.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let connection = recognised(path)?;
        // Read on this connection, which sees the log too: the file alone may be older.
        let found = file::version(&connection, path)?;
        if found < schema::VERSION {
            let needed = schema::VERSION;
            return Err(StoreError::OlderSchema { url: url(path), found, needed });
        }
        Ok(Self { path: path.to_owned(), connection: Mutex::new(connection) })
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        // A panic while the lock is held leaves the connection usable.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine for Sqlite {
    fn writer(&self) -> Result<Box<dyn Writer>, StoreError> {
        let writer = SqliteWriter::open(&self.path)?;
        // The log has just been synced again. In a server this connection is the last to close, so
        // it is the one that copies the log.
        copy_log_at_close(&self.connection(), true).map_err(failed("open the store"))?;
        Ok(Box::new(writer))
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        let begin = || -> Result<_, Cause> { Ok(SqliteSnapshot::begin(connect(&self.path)?)?) };
        Ok(Box::new(begin().map_err(failed("read the plants"))?))
    }

    fn tokens(&self) -> Result<Vec<StoredToken>, StoreError> {
        tokens::all(&self.connection()).map_err(failed("read the tokens"))
    }

    fn add_token(&self, token: &StoredToken) -> Result<(), StoreError> {
        tokens::add(&self.connection(), token)
    }

    fn revoke_token(&self, name: &TokenName) -> Result<(), StoreError> {
        tokens::revoke(&self.connection(), name)
    }
}
