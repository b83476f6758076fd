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
mod checkpoint;
mod connection;
mod error;
mod file;
mod lock;
mod log;
mod log_file;
mod mark;
mod new_file;
mod pages;
mod place;
mod row;
mod schema;
mod tokens;
mod writer;

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;

use crate::descriptors;
use crate::store::engine::{
    CommitError, Contents, Engine, NewStore, Pages, Sizes, Start, StoreError, Writer,
};
use crate::store::metrics::FileMetrics;
use crate::store::sqlite::connection::{connect, copy_log_at_close};
use crate::store::sqlite::error::{failed, url};
use crate::store::sqlite::lock::LockFile;
use crate::store::sqlite::log_file::LogFile;
use crate::store::sqlite::mark::Mark;
use crate::store::sqlite::new_file::NewFile;
use crate::store::sqlite::pages::SqlitePages;
use crate::store::sqlite::place::Place;
use crate::store::sqlite::writer::SqliteWriter;
use crate::token::{StoredToken, TokenName};

const OPEN: &str = "open the store";
const LOCK: &str = "lock the store";
const CHANGE: &str = "change the tokens";

/// The largest plant that a row holds, in bytes of its texts, with room for the rest of the row
/// (<https://sqlite.org/limits.html#max_length>).
pub const LARGEST_PLANT: u64 = 999_999_000;

/// The version of the schema.
pub const SCHEMA_VERSION: u32 = schema::VERSION;

/// A plant store in a file, its log and the log's index beside it (`-wal`, `-shm`).
pub struct Sqlite {
    place: Place,
    /// What it has seen is the same for all connections of this process.
    log: Arc<LogFile>,
    /// For the tokens. It also keeps the log in place while no other connection is open.
    connection: Mutex<Connection>,
    /// Dropped after the connection.
    lock: Arc<LockFile>,
    /// Whether the log holds nothing that may not be synced yet.
    log_is_synced: AtomicBool,
    /// Whether this process has created the store.
    has_created: bool,
    metrics: FileMetrics,
}

/// See [`crate::store::begin`].
pub fn begin(path: &Path) -> Result<Box<dyn NewStore>, StoreError> {
    Ok(Box::new(NewFile::begin(path)?))
}

/// See [`crate::store::serve`].
pub fn serve(path: &Path, start: Start) -> Result<Sqlite, StoreError> {
    let new = match start.create.then(|| NewFile::begin(path)) {
        Some(Ok(new)) => new.publish_locked()?,
        None | Some(Err(StoreError::Exists(_))) => None,
        Some(Err(error)) => return Err(error),
    };
    let has_created = new.is_some();
    file::recognise(path)?;
    let lock = match new {
        Some(lock) => lock,
        None => take_lock(path)?,
    };
    if !start.without_log {
        file::check_log_is_there(path)?;
    }
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
    Sqlite::new(connection, path, lock, has_created)
}

fn take_lock(path: &Path) -> Result<LockFile, StoreError> {
    let lock = LockFile::open(path).map_err(failed(LOCK))?;
    if lock.take().map_err(failed(LOCK))? {
        return Ok(lock);
    }
    let server = lock.server().map_err(failed(LOCK))?;
    let server = server.map_or("another process".to_owned(), |id| format!("process {id}"));
    Err(StoreError::Served { url: url(path), server })
}

/// Refuses a log that belongs to another file. Before a server runs this says it for certain.
fn check_mark(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    if is_foreign(connection, path).map_err(failed(OPEN))? {
        let log = place::log_of(path).display().to_string();
        return Err(StoreError::ForeignLog { url: url(path), log });
    }
    Ok(())
}

/// Whether the log belongs to another file. A file that cannot be read without its log says
/// nothing.
fn is_foreign(connection: &Connection, path: &Path) -> rusqlite::Result<bool> {
    let Ok(file) = descriptors::beyond_limit(|| file::mark(path)) else { return Ok(false) };
    Ok(Mark::read(connection)?.is_some_and(|log| !log.belongs_to(file.as_ref())))
}

impl Sqlite {
    /// Opens the store in that file, which has the schema of this release.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        file::recognise(path)?;
        let lock = LockFile::open(path).map_err(failed(OPEN))?;
        file::check_log_is_there(path)?;
        let connection = connect(path).map_err(failed(OPEN))?;
        // A server has asked already, and the file and the log change while it runs.
        if lock.server().map_err(failed(OPEN))?.is_none() {
            check_mark(&connection, path)?;
        }
        // Read on this connection, which sees the log too: the file alone may be older.
        let found = file::version(&connection, path)?;
        if found < schema::VERSION {
            let needed = schema::VERSION;
            return Err(StoreError::OlderSchema { url: url(path), found, needed });
        }
        Self::new(connection, path, lock, false)
    }

    fn new(
        connection: Connection,
        path: &Path,
        lock: LockFile,
        has_created: bool,
    ) -> Result<Self, StoreError> {
        let place = Place::of(path).map_err(failed(OPEN))?;
        if lock.id().map_err(failed(OPEN))? != place.id() {
            return Err(failed(OPEN)("another file was put in its place meanwhile"));
        }
        // A log that a crash left may never have been synced.
        let log_is_synced = place.log_length().map_err(failed(OPEN))? == 0;
        let log = Arc::new(LogFile::open(&place).map_err(failed(OPEN))?);
        Ok(Self {
            log,
            place,
            connection: Mutex::new(connection),
            lock: Arc::new(lock),
            log_is_synced: log_is_synced.into(),
            has_created,
            metrics: FileMetrics::register(),
        })
    }

    /// Changes the tokens, and marks the log if that started it over. Without a mark a log is taken
    /// as it is, so an error there is none here.
    fn change_tokens<T>(
        &self,
        change: impl FnOnce(&mut Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut connection = self.connection();
        self.log.check(&connection, &self.place).map_err(failed(CHANGE))?;
        let changed = change(&mut connection)?;
        let _ = self.log.ensure_marked(&mut connection);
        self.log.check(&connection, &self.place).map_err(failed(CHANGE))?;
        Ok(changed)
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        // A panic while the lock is held leaves the connection usable.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check_log(&self) -> Result<(), CommitError> {
        self.place.check_all()?;
        self.log.check(&self.connection(), &self.place).map(drop)
    }

    /// Fails where something was copied over the file, which is still the one that is open.
    fn check_file(&self) -> Result<(), CommitError> {
        let path = self.place.store();
        let is_foreign = || is_foreign(&self.connection(), path);
        // The log may start over between the two looks, so it is asked again.
        if is_foreign()? && is_foreign()? && is_foreign()? {
            // Or another file was put there meanwhile, or the log was cut.
            self.check_log()?;
            let cause = format!("{} was written over by another program", path.display());
            return Err(CommitError::Gone(cause.into()));
        }
        Ok(())
    }
}

/// Copies the log into the file and removes it, if this connection is the last one and the file is
/// the whole store then. A log that a server left is the next server's.
impl Drop for Sqlite {
    fn drop(&mut self) {
        let connection = self.connection();
        let is_closed = matches!(Mark::read(&connection), Ok(Some(Mark { open: false, .. })));
        let copies = is_closed
            && self.log_is_synced.load(Relaxed)
            && self.log.check(&connection, &self.place).is_ok();
        // An error leaves the log where it is.
        let _ = copy_log_at_close(&connection, copies);
    }
}

impl Contents for Sqlite {
    fn count(&self) -> Result<u64, StoreError> {
        pages::count(&self.connection())
    }

    fn plants(&self) -> Result<Pages<'_>, StoreError> {
        const READ: &str = "read the plants";
        let connection = connect(self.place.store()).map_err(failed(READ))?;
        // The files that this connection has open must be those of the other one.
        self.place.check_all().map_err(failed(READ))?;
        Ok(Box::new(SqlitePages::new(connection)))
    }

    fn tokens(&self) -> Result<Vec<StoredToken>, StoreError> {
        tokens::all(&self.connection()).map_err(failed("read the tokens"))
    }
}

impl Engine for Sqlite {
    /// [`serve`] has done it.
    fn set_up(&self) -> Result<bool, StoreError> {
        Ok(self.has_created)
    }

    fn writer(&self) -> Result<Box<dyn Writer>, StoreError> {
        let writer =
            SqliteWriter::open(&self.place, Arc::clone(&self.log), Arc::clone(&self.lock))?;
        // It has just been synced again.
        self.log_is_synced.store(true, Relaxed);
        Ok(Box::new(writer))
    }

    fn tend(&self) -> Result<Sizes, CommitError> {
        // First: where the log is cut, nothing in it can be read.
        self.check_log()?;
        self.check_file()?;
        log::shorten(&self.place)?;
        let unavailable = |error: io::Error| CommitError::Unavailable(error.into());
        let sizes = self.place.sizes().map_err(unavailable)?;
        let free = self.place.free().map_err(unavailable)?;
        self.metrics.bytes(sizes.log.unwrap_or_default(), free);
        Ok(sizes)
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
        self.change_tokens(|connection| tokens::add(connection, token))
    }

    fn revoke_token(&self, name: &TokenName) -> Result<(), StoreError> {
        self.change_tokens(|connection| tokens::revoke(connection, name))
    }

    /// Its lock has said so.
    fn join(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn confirm_tokens(&self, changes: u32) -> Result<(), StoreError> {
        self.change_tokens(|connection| {
            tokens::confirm(connection, changes).map_err(failed("confirm the tokens"))
        })
    }

    fn are_tokens_in_force(&self) -> Result<bool, StoreError> {
        let is_served = self.lock.server().map_err(failed("look for the server"))?.is_some();
        let confirmed = || tokens::are_confirmed(&self.connection());
        Ok(!is_served || confirmed().map_err(failed("read the tokens"))?)
    }
}
