//! SQLite: the embedded engine.
//!
//! Write-ahead log and `synchronous=FULL`: a commit returns when the log is synced, and that makes
//! it durable (<https://sqlite.org/pragma.html#pragma_synchronous>). The writer runs checkpoints
//! itself, because SQLite's automatic one does not report a failed fsync
//! (<https://sqlite.org/c3ref/wal_autocheckpoint.html>).
//!
//! While a connection of this process is open, nothing but SQLite may close the store's file:
//! closing any descriptor of it drops SQLite's locks
//! (<https://sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_>).

mod check;
mod connection;
mod error;
mod file;
mod lock;
mod log;
mod mark;
mod new_file;
mod pages;
mod place;
mod row;
mod schema;
mod tokens;
mod writer;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;

use crate::store::engine::{
    Cause, CommitError, Contents, Engine, NewStore, Pages, Sizes, StoreError, Writer,
};
use crate::store::sqlite::connection::{connect, copy_log_at_close};
use crate::store::sqlite::error::{failed, url};
use crate::store::sqlite::lock::ServerLock;
use crate::store::sqlite::mark::Mark;
use crate::store::sqlite::new_file::NewFile;
use crate::store::sqlite::pages::SqlitePages;
use crate::store::sqlite::place::Place;
use crate::store::sqlite::writer::SqliteWriter;
use crate::token::{StoredToken, TokenName};

const OPEN: &str = "open the store";

/// The largest plant that a row holds, in bytes of its texts, with room for the rest of the row
/// (<https://sqlite.org/limits.html#max_length>).
pub const LARGEST_PLANT: u64 = 999_999_000;

/// A plant store in a file, its log and the log's index beside it (`-wal`, `-shm`).
pub struct Sqlite {
    place: Place,
    /// For the tokens. It also keeps the log in place while no other connection is open.
    connection: Mutex<Connection>,
    /// In a server. Dropped after the connection.
    lock: Option<Arc<ServerLock>>,
}

/// See [`crate::store::begin`].
pub fn begin(path: &Path) -> Result<Box<dyn NewStore>, StoreError> {
    Ok(Box::new(NewFile::begin(path)?))
}

/// See [`crate::store::serve`].
pub fn serve(path: &Path, create: bool) -> Result<(Sqlite, bool), StoreError> {
    let new = match create.then(|| NewFile::begin(path)) {
        Some(Ok(new)) => new.publish_locked()?,
        None | Some(Err(StoreError::Exists(_))) => None,
        Some(Err(error)) => return Err(error),
    };
    let created = new.is_some();
    file::recognise(path)?;
    let lock = match new {
        Some(lock) => lock,
        None => ServerLock::take(path).map_err(failed("lock the store"))?.ok_or_else(|| {
            let server = lock::holder(path)
                .map_or("another process".to_owned(), |process| format!("process {process}"));
            StoreError::Served { url: url(path), server }
        })?,
    };
    let mut connection = connect(path).map_err(failed(OPEN))?;
    check_mark(&connection, path)?;
    if file::version(&connection, path)? < schema::VERSION {
        connection
            .transaction()
            .and_then(|transaction| {
                schema::bring_up_to_date(&transaction)?;
                transaction.commit()
            })
            .map_err(failed("bring the store up to date"))?;
    }
    Ok((Sqlite::of(connection, path, Some(Arc::new(lock)))?, created))
}

/// Refuses a log that belongs to another file. While a server runs this is not asked: it has been,
/// and the two change meanwhile.
fn check_mark(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let marks = || Ok::<_, Cause>((Mark::read(connection)?, file::mark(path)?));
    match marks().map_err(failed(OPEN))? {
        (Some(log), Some(file)) if !log.belongs_to(&file) => {
            let log = place::log_of(path).display().to_string();
            Err(StoreError::ForeignLog { url: url(path), log })
        }
        _ => Ok(()),
    }
}

impl Sqlite {
    /// Opens the store in that file, which has the schema of this release.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        file::recognise(path)?;
        let connection = connect(path).map_err(failed(OPEN))?;
        if lock::holder(path).is_none() {
            check_mark(&connection, path)?;
        }
        // Read on this connection, which sees the log too: the file alone may be older.
        let found = file::version(&connection, path)?;
        if found < schema::VERSION {
            let needed = schema::VERSION;
            return Err(StoreError::OlderSchema { url: url(path), found, needed });
        }
        Self::of(connection, path, None)
    }

    fn of(
        connection: Connection,
        path: &Path,
        lock: Option<Arc<ServerLock>>,
    ) -> Result<Self, StoreError> {
        let place = Place::of(path).map_err(failed(OPEN))?;
        Ok(Self { place, connection: Mutex::new(connection), lock })
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        // A panic while the lock is held leaves the connection usable.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Contents for Sqlite {
    fn count(&self) -> Result<u64, StoreError> {
        pages::count(&self.connection())
    }

    fn plants(&self) -> Result<Pages<'_>, StoreError> {
        let connection = connect(self.place.store()).map_err(failed("read the plants"))?;
        Ok(Box::new(SqlitePages::new(connection)))
    }

    fn tokens(&self) -> Result<Vec<StoredToken>, StoreError> {
        tokens::all(&self.connection()).map_err(failed("read the tokens"))
    }
}

impl Engine for Sqlite {
    fn writer(&self) -> Result<Box<dyn Writer>, StoreError> {
        let writer = SqliteWriter::open(self.place.store(), self.lock.clone())?;
        // The log has just been synced again. In a server this connection is the last to close, so
        // it is the one that copies the log.
        copy_log_at_close(&self.connection(), true).map_err(failed(OPEN))?;
        Ok(Box::new(writer))
    }

    fn tend(&self) -> Result<Sizes, CommitError> {
        self.place.check_all()?;
        log::shorten(&self.place)?;
        self.place.sizes().map_err(|error| CommitError::Unavailable(error.into()))
    }

    fn check(&self) -> Result<Vec<String>, StoreError> {
        check::faults(&self.connection()).map_err(failed("check the store"))
    }

    fn sizes(&self) -> Result<Sizes, StoreError> {
        self.place.sizes().map_err(failed("measure the store"))
    }

    fn token_changes(&self) -> Result<u32, StoreError> {
        tokens::changes(&self.connection()).map_err(failed("read the tokens"))
    }

    fn add_token(&self, token: &StoredToken) -> Result<(), StoreError> {
        tokens::add(&mut self.connection(), token)
    }

    fn revoke_token(&self, name: &TokenName) -> Result<(), StoreError> {
        tokens::revoke(&mut self.connection(), name)
    }

    fn confirm_tokens(&self, changes: u32) -> Result<(), StoreError> {
        tokens::confirm(&self.connection(), changes).map_err(failed("confirm the tokens"))
    }

    fn are_tokens_in_force(&self) -> Result<bool, StoreError> {
        let is_served = lock::holder(self.place.store()).is_some();
        let confirmed = || tokens::are_confirmed(&self.connection());
        Ok(!is_served || confirmed().map_err(failed("read the tokens"))?)
    }
}
