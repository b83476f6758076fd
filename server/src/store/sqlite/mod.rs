//! SQLite: the embedded engine.
//!
//! Write-ahead log and `synchronous=FULL`: a commit returns when the WAL is synced, and that makes
//! it durable (<https://sqlite.org/pragma.html#pragma_synchronous>). The writer runs checkpoints
//! itself, because SQLite's automatic one does not report a failed fsync
//! (<https://sqlite.org/c3ref/wal_autocheckpoint.html>).
//!
//! While a connection of this process is open, nothing but SQLite may close the store's file:
//! closing any descriptor of it drops SQLite's locks
//! (<https://sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_>).

mod at_rest;
mod check;
mod checkpoint;
mod connection;
mod error;
mod existing_file;
mod files;
mod lock;
mod mark;
mod names;
mod new_file;
mod one_connection;
mod open_file;
mod pages;
mod row;
mod schema;
mod tokens;
mod wal;
mod writer;

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::Connection;

use crate::store::engine::{
    Contents, NewStore, Pages, ServedStore, Sizes, Start, Store, Tokens, Writer,
};
use crate::store::error::{CommitError, StoreError};
use crate::store::sqlite::at_rest::FileAtRest;
use crate::store::sqlite::connection::{WAL_BOUND, connect, copy_wal_at_close};
use crate::store::sqlite::error::{cannot_write, failed, url};
use crate::store::sqlite::existing_file::{Rights, check_mark, is_foreign};
use crate::store::sqlite::files::StoreFiles;
use crate::store::sqlite::lock::LockFile;
use crate::store::sqlite::mark::Mark;
use crate::store::sqlite::new_file::NewFile;
use crate::store::sqlite::pages::SqlitePages;
use crate::store::sqlite::writer::SqliteWriter;
use crate::store::url::StoreUrl;
use crate::store::version::{VERSION, check_present, check_readable};
use crate::token::{StoredToken, TokenName};

const OPEN: &str = "open the store";
const LOCK: &str = "lock the store";
const CHANGE: &str = "change the tokens";

/// The largest plant that a row holds, in bytes of its texts. The rest of the row fits beside it
/// (<https://sqlite.org/limits.html#max_length>).
pub const LARGEST_PLANT: u64 = 999_999_000;

/// A plant store in a file, with its WAL and the WAL's index beside it (`-wal`, `-shm`).
pub struct Sqlite {
    files: Arc<StoreFiles>,
    /// For the tokens; the writer waits while it is used. It also keeps the WAL in place while no
    /// other connection is open.
    connection: Arc<Mutex<Connection>>,
    /// Dropped after the connection.
    lock: Arc<LockFile>,
    /// Whether the WAL holds nothing that may not be synced yet.
    wal_is_synced: AtomicBool,
    /// Whether this process has created the store.
    has_created: bool,
}

/// See [`crate::store::begin`].
pub fn begin(path: &Path) -> Result<Box<dyn NewStore>, StoreError> {
    Ok(Box::new(NewFile::begin(path)?))
}

/// See [`crate::store::open`].
pub fn open(path: &Path) -> Result<Box<dyn Store>, StoreError> {
    match Sqlite::open_as(path, check_readable) {
        Ok(store) => Ok(Box::new(store)),
        Err(error) if cannot_write(&error) => match FileAtRest::open(path)? {
            Some(store) => Ok(Box::new(store)),
            None => Err(error),
        },
        Err(error) => Err(error),
    }
}

/// See [`crate::store::open_to_serve`].
pub fn open_to_serve(path: &Path, start: Start) -> Result<Sqlite, StoreError> {
    let new = match start.create.then(|| NewFile::begin(path)) {
        Some(Ok(new)) => new.publish_locked()?,
        None | Some(Err(StoreError::Exists(_))) => None,
        Some(Err(error)) => return Err(error),
    };
    let has_created = new.is_some();
    existing_file::recognise(path, Rights::Write)?;
    let lock = match new {
        Some(lock) => lock,
        None => take_lock(path)?,
    };
    if !start.without_wal {
        existing_file::check_wal_is_there(path)?;
    }
    let connection = connect(path).map_err(failed(OPEN))?;
    check_mark(&connection, path)?;
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

impl Sqlite {
    /// Opens the store in that file, which has the schema of this release.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_as(path, check_present)
    }

    fn open_as(
        path: &Path,
        check_version: fn(u32, &StoreUrl) -> Result<(), StoreError>,
    ) -> Result<Self, StoreError> {
        existing_file::recognise(path, Rights::Write)?;
        let lock = LockFile::open(path).map_err(failed(OPEN))?;
        existing_file::check_wal_is_there(path)?;
        let connection = connect(path).map_err(failed(OPEN))?;
        // A server has asked already, and the file and the WAL change while it runs.
        if lock.server().map_err(failed(OPEN))?.is_none() {
            check_mark(&connection, path)?;
        }
        // Read on this connection, which sees the WAL too: the file alone may be older.
        check_version(existing_file::version(&connection, path)?, &url(path))?;
        schema::show_as_present(&connection).map_err(failed(OPEN))?;
        Self::new(connection, path, lock, false)
    }

    fn new(
        connection: Connection,
        path: &Path,
        lock: LockFile,
        has_created: bool,
    ) -> Result<Self, StoreError> {
        let files = StoreFiles::of(path, &connection).map_err(failed(OPEN))?;
        if lock.id().map_err(failed(OPEN))? != files.store().id() {
            return Err(failed(OPEN)("another file was put in its place meanwhile"));
        }
        // A WAL that a crash left may never have been synced.
        let wal_is_synced = files.wal.bytes().map_err(failed(OPEN))? == 0;
        Ok(Self {
            files: Arc::new(files),
            connection: Arc::new(Mutex::new(connection)),
            lock: Arc::new(lock),
            wal_is_synced: wal_is_synced.into(),
            has_created,
        })
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        // A panic while the lock is held leaves the connection usable.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path(&self) -> &Path {
        self.files.store().path()
    }

    /// Changes the tokens, and marks the WAL if that started it over. A WAL without a mark is
    /// accepted, so a failure to mark it is ignored.
    fn change_tokens<T>(
        &self,
        change: impl FnOnce(&mut Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        // SQLite's write lock has no queue: a writer under load would take it again and again.
        let _lock = self.lock.take_for_command().map_err(failed(CHANGE))?;
        let mut connection = self.connection();
        self.files.check(&connection).map_err(failed(CHANGE))?;
        self.make_wal_durable(&mut connection)?;
        let before = self.files.wal.header().map_err(failed(CHANGE))?;
        let changed = change(&mut connection)?;
        if self.files.wal.header().map_err(failed(CHANGE))? != before {
            let _ = self.files.wal.ensure_marked(&mut connection);
        }
        self.files.check(&connection).map_err(failed(CHANGE))?;
        Ok(changed)
    }

    /// Makes durable what a crash or a failed fsync may have left in the WAL, unless a server did so
    /// when it started. Otherwise a power cut could take back what is written behind it.
    fn make_wal_durable(&self, connection: &mut Connection) -> Result<(), StoreError> {
        if self.wal_is_synced.load(Relaxed) || self.lock.server().map_err(failed(CHANGE))?.is_some()
        {
            return Ok(());
        }
        let other = connect(self.path()).map_err(failed(CHANGE))?;
        self.files.wal.renew(connection, &other).map_err(failed("renew the store's WAL"))?;
        self.wal_is_synced.store(true, Relaxed);
        Ok(())
    }

    /// Fails if another store was copied over the file, which still has its device and inode.
    fn check_contents(&self) -> Result<(), CommitError> {
        let is_foreign = || is_foreign(&self.connection(), self.path());
        // Again, because the WAL may start over between the two looks.
        if is_foreign()? && is_foreign()? && is_foreign()? {
            // Another file was put there meanwhile, or the WAL was cut.
            self.files.check_all(&self.connection())?;
            let cause = format!("{} was written over by another program", self.path().display());
            return Err(CommitError::Gone(cause.into()));
        }
        Ok(())
    }
}

/// Copies the WAL into the file and removes it, if this connection is the last one and the file is
/// then the whole store. If a server left a WAL, the next server copies it.
impl Drop for Sqlite {
    fn drop(&mut self) {
        let connection = self.connection();
        let is_closed = matches!(Mark::read(&connection), Ok(Some(Mark { open: false, .. })));
        let copies =
            is_closed && self.wal_is_synced.load(Relaxed) && self.files.check(&connection).is_ok();
        // An error leaves the WAL as it is.
        let _ = copy_wal_at_close(&connection, copies);
    }
}

impl Contents for Sqlite {
    fn count(&self) -> Result<u64, StoreError> {
        pages::count(&self.connection())
    }

    fn plants(&self) -> Result<Pages<'_>, StoreError> {
        const READ: &str = "read the plants";
        let connection = connect(self.path()).map_err(failed(READ))?;
        // The files that this connection has open must be those of the other one.
        self.files.check_all(&connection).map_err(failed(READ))?;
        schema::show_as_present(&connection).map_err(failed(READ))?;
        Ok(Box::new(SqlitePages::new(connection)))
    }

    fn tokens(&self) -> Result<Vec<StoredToken>, StoreError> {
        tokens::all(&self.connection())
    }
}

impl Tokens for Sqlite {
    fn add_token(&self, token: &StoredToken) -> Result<(), StoreError> {
        self.change_tokens(|connection| tokens::add(connection, token))
    }

    fn revoke_token(&self, name: &TokenName) -> Result<(), StoreError> {
        self.change_tokens(|connection| tokens::revoke(connection, name))
    }

    fn are_tokens_in_force(&self) -> Result<bool, StoreError> {
        let is_served = self.lock.server().map_err(failed("look for the server"))?.is_some();
        let confirmed = || tokens::are_confirmed(&self.connection());
        Ok(!is_served || confirmed().map_err(failed("read the tokens"))?)
    }
}

impl Store for Sqlite {
    fn check(&self) -> Result<Vec<String>, StoreError> {
        check::faults(&self.connection()).map_err(failed("check the store"))
    }

    fn sizes(&self) -> Result<Sizes, StoreError> {
        files::sizes(self.path()).map_err(failed("measure the store"))
    }
}

impl ServedStore for Sqlite {
    fn set_up(&self) -> Result<bool, StoreError> {
        let mut connection = self.connection();
        if existing_file::version(&connection, self.path())? < VERSION {
            connection
                .transaction()
                .and_then(|transaction| {
                    schema::bring_up_to_date(&transaction)?;
                    transaction.commit()
                })
                .map_err(failed("bring the store up to date"))?;
        }
        Ok(self.has_created)
    }

    fn writer(&self) -> Result<Box<dyn Writer>, StoreError> {
        let (files, lock) = (Arc::clone(&self.files), Arc::clone(&self.lock));
        let writer = SqliteWriter::open(files, lock, Arc::clone(&self.connection))?;
        // It has just synced the WAL again.
        self.wal_is_synced.store(true, Relaxed);
        Ok(Box::new(writer))
    }

    fn tend(&self) -> Result<Sizes, CommitError> {
        // First, because nothing in a WAL that was cut can be read.
        self.files.check_all(&self.connection())?;
        self.check_contents()?;
        let unavailable = |error: io::Error| CommitError::Unavailable(error.into());
        if self.files.wal.bytes().map_err(unavailable)? > WAL_BOUND.into() {
            checkpoint::shorten(self.path())?;
        }
        files::sizes(self.path()).map_err(unavailable)
    }

    fn token_changes(&self) -> Result<u32, StoreError> {
        let connection = self.connection();
        self.lock.wait_for_commands().map_err(failed("look for commands"))?;
        tokens::changes(&connection).map_err(failed("read the tokens"))
    }

    fn confirm_tokens(&self, changes: u32) -> Result<(), StoreError> {
        self.change_tokens(|connection| {
            tokens::confirm(connection, changes).map_err(failed("confirm the tokens"))
        })
    }

    /// The lock of a server tells commands that it runs.
    fn tokens_hold_for(&self) -> Option<Duration> {
        None
    }
}
