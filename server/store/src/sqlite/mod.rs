//! SQLite, the embedded engine. A store is an ordinary SQLite database, and SQLite's own tools work
//! on it.
//!
//! The store uses a write-ahead log and `synchronous=FULL`: a commit returns when the WAL is
//! synced, which makes the commit durable (<https://sqlite.org/pragma.html#pragma_synchronous>).
//!
//! A server locks the file, opens it, and checkpoints the WAL, with a sync, before it answers any
//! request (`wal.rs`). When it stops, it checkpoints the WAL again.
//!
//! While this process has a connection open, nothing but SQLite may close the store's file: closing
//! any descriptor of the file drops SQLite's locks
//! (<https://sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_>).

mod copy;
mod files;
mod rows;
mod schema;
mod served_files;
mod wal;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use rusqlite::ffi::{SQLITE_IOERR_DIR_FSYNC, SQLITE_IOERR_FSYNC, SQLITE_IOERR_SHMSIZE};
use rusqlite::wal::CheckpointMode;
use rusqlite::{Connection, ErrorCode};

use crate::Names;
use crate::engine::{Engine, FirstToken, Mode, Opened, Outcome, Row, Sizes};
use crate::error::{At, Error, Kind};
use crate::sqlite::files::{
    CREATE, OPEN, has_pages_beside, lock, require_index_of_server, require_write_access, sizes,
};
use crate::sqlite::served_files::ServedFiles;
use crate::sqlite::wal::{
    Access, Checkpoints, WAL_BOUND, checkpoint_truncate, connect, remove_wal_at_close,
    sync_empty_wal, truncate_long_wal, try_checkpoint, use_wal,
};
use crate::token::{StoredToken, TokenName};
use crate::url::StoreUrl;

pub use copy::copy;

const OPEN_WITH_WAL: &str = "read the file together with its WAL, which takes its -shm file, or \
    write access to the file and its folder";
const CHECKPOINT: &str = "copy the store's WAL into its file";
const CLOSE: &str = "close the store";
const READ_TOKENS: &str = "read the tokens";

/// See [`crate::open`].
pub fn open(names: &'static Names, path: &Path, mode: Mode<'_>) -> Result<Opened, Error> {
    let (store, is_new) = match mode {
        Mode::Read => (open_to_read(names, path)?, false),
        Mode::Change => (open_to_change(names, path)?, false),
        Mode::Serve => open_to_serve(names, path, None)?,
        Mode::ServeOrCreate(first_token) => open_to_serve(names, path, Some(first_token))?,
    };
    Ok(Opened { store: Arc::new(store), is_new })
}

/// Opens a store for serving. If there is none, creates it with the first token if one is given.
/// Returns whether it was created.
fn open_to_serve(
    names: &'static Names,
    path: &Path,
    first_token: Option<FirstToken<'_>>,
) -> Result<(Sqlite, bool), Error> {
    let (file, was_created) = match first_token {
        Some(first_token) => files::open_or_create(path, first_token)?,
        None => (files::open(path)?, false),
    };
    lock(&file, path)?;
    if !was_created {
        schema::require_store(path, &file, names)?;
    }
    // This also rolls back a creation that was killed.
    let mut store = Sqlite::open(names, path, file, Access::Write)?;
    let is_new = match first_token {
        Some(first_token) => {
            let connection = &mut store.commits.get_mut().connection;
            schema::create(connection, names, first_token).at(url(path), CREATE)?
        }
        None => false,
    };
    store.prepare_to_serve()?;
    Ok((store, is_new))
}

/// Opens a store to change its tokens.
fn open_to_change(names: &'static Names, path: &Path) -> Result<Sqlite, Error> {
    let file = files::open(path)?;
    require_index_of_server(&file, path)?;
    schema::require_store(path, &file, names)?;
    Sqlite::open(names, path, file, Access::Write)
}

/// Opens a store to read it.
///
/// SQLite's readers write to the WAL index. Without write access to the file and its folder, a file
/// that no server has open, and that contains everything, is read alone. Any other store is read
/// through the WAL and the index that are there, or not at all. A store is
/// never read without its WAL.
pub fn open_to_read(names: &'static Names, path: &Path) -> Result<Sqlite, Error> {
    let file = files::open_to_read(path)?;
    schema::require_store(path, &file, names)?;
    let access = if require_write_access(path).is_ok() {
        require_index_of_server(&file, path)?;
        Access::Write
    // The lock keeps a server from starting until this process has closed the file.
    } else if !has_pages_beside(path) && file.try_lock_shared().is_ok() {
        Access::Immutable
    } else {
        Access::Read
    };
    let has_pages_beside = has_pages_beside(path);
    let mut store = Sqlite::open(names, path, file, access)?;
    if has_pages_beside {
        // A command that only reads leaves the WAL of a crash where it is.
        store.remove_wal_at_close(false)?;
    }
    Ok(store)
}

/// Opens a store to read one state of it.
pub fn open_state_to_read(names: &'static Names, path: &Path) -> Result<Sqlite, Error> {
    let store = open_to_read(names, path)?;
    store.reads.lock().execute_batch("BEGIN").at(url(path), OPEN)?;
    Ok(store)
}

/// A store in a file, with the WAL and the WAL index beside it (`-wal`, `-shm`).
pub struct Sqlite {
    names: &'static Names,
    path: PathBuf,
    commits: Mutex<Commits>,
    /// Reads rows, and reads and changes the tokens, which must not wait for a commit.
    reads: Mutex<Connection>,
    /// The files of the store if it is being served.
    served_files: Option<ServedFiles>,
    /// Holds the server's lock (flock(2)). It is dropped after the connections.
    file: File,
}

/// The connection that commits rows, and its checkpoints.
struct Commits {
    connection: Connection,
    checkpoints: Checkpoints,
}

impl Sqlite {
    /// Opens the file. It is either a store, or empty and locked.
    fn open(names: &'static Names, path: &Path, file: File, access: Access) -> Result<Self, Error> {
        let open = if access == Access::Read { OPEN_WITH_WAL } else { OPEN };
        let connect = || connect(path, access).at(url(path), open);
        let commits = Commits { connection: connect()?, checkpoints: Checkpoints::default() };
        let reads = connect()?.into();
        Ok(Self {
            names,
            path: path.to_owned(),
            commits: commits.into(),
            reads,
            served_files: None,
            file,
        })
    }

    /// Prepares the store for serving. Its whole content is on the disk when this returns.
    fn prepare_to_serve(&mut self) -> Result<(), Error> {
        // From now on closing a connection keeps the WAL, unless `close` has checkpointed it.
        self.remove_wal_at_close(false)?;
        let connection = &self.commits.get_mut().connection;
        use_wal(connection).at(url(&self.path), OPEN)?;
        checkpoint_truncate(connection).at(url(&self.path), CHECKPOINT)?;
        sync_empty_wal(&self.path).at(url(&self.path), CHECKPOINT)?;
        self.served_files =
            Some(ServedFiles::of(&self.path, &self.file).at(url(&self.path), OPEN)?);
        Ok(())
    }

    /// Sets whether the last connection that is closed checkpoints and removes the WAL.
    fn remove_wal_at_close(&mut self, remove: bool) -> Result<(), Error> {
        for connection in [&self.commits.get_mut().connection, self.reads.get_mut()] {
            remove_wal_at_close(connection, remove).at(url(&self.path), OPEN)?;
        }
        Ok(())
    }

    /// Checks the table of the tokens, and nothing else.
    pub fn check_tokens(&self) -> Result<(), Error> {
        let sound = schema::require_sound(&self.reads.lock(), "main.integrity_check(tokens)");
        sound.at(self.url(), READ_TOKENS)
    }

    fn url(&self) -> StoreUrl {
        url(&self.path)
    }

    /// Fails if a file of a served store was removed, renamed or replaced.
    fn require_files_in_place(&self) -> Result<(), Error> {
        self.served_files.as_ref().map_or(Ok(()), ServedFiles::are_in_place)
    }
}

impl Engine for Sqlite {
    /// Checks the files before and after the transaction: nobody would find a row that was
    /// committed to a removed or replaced file.
    fn commit(&self, rows: &[Row], _: Instant) -> Result<Vec<Outcome>, Error> {
        self.require_files_in_place()?;
        let outcomes = rows::commit(&mut self.commits.lock().connection, self.names, rows)?;
        self.require_files_in_place()?;
        Ok(outcomes)
    }

    fn upkeep(&self) -> Result<(), Error> {
        let Commits { connection, checkpoints } = &mut *self.commits.lock();
        checkpoints.run_if_long(connection)
    }

    fn page(&self, after: Option<i64>, limit: usize) -> Result<Vec<Row>, Error> {
        let connection = self.reads.lock();
        rows::page(&connection, self.names, after, limit).at(self.url(), "read the rows")
    }

    fn count(&self) -> Result<u64, Error> {
        rows::count(&self.reads.lock(), self.names).at(self.url(), "count the rows")
    }

    fn tokens(&self) -> Result<Vec<StoredToken>, Error> {
        rows::tokens(&self.reads.lock()).at(self.url(), READ_TOKENS)
    }

    fn add_token(&self, token: &StoredToken) -> Result<(), Error> {
        let added = rows::add_token(&mut self.reads.lock(), token);
        if added.at(self.url(), "store the token")? {
            Ok(())
        } else {
            Err(Error::name_taken(&token.name, self.url()))
        }
    }

    fn revoke_token(&self, name: &TokenName) -> Result<(), Error> {
        rows::revoke_token(&mut self.reads.lock(), name).at(self.url(), "revoke the token")
    }

    fn check(&self) -> Result<Vec<String>, Error> {
        schema::faults(&self.reads.lock(), self.names).at(self.url(), "check the store")
    }

    fn sizes(&self) -> Sizes {
        sizes(&self.path)
    }

    fn inspect(&self) -> Result<(), Error> {
        self.require_files_in_place()?;
        if self.sizes().wal > Some(WAL_BOUND.into()) {
            truncate_long_wal(&self.path)?;
        }
        Ok(())
    }

    /// Runs a last checkpoint. If another program blocks it, the WAL stays, and the next start
    /// copies it into the store's file.
    fn close(&self) -> Result<Option<u64>, Error> {
        // Locked first: reading the tokens at the same time would block the checkpoint.
        let reads = self.reads.lock();
        self.require_files_in_place().at(self.url(), CLOSE)?;
        let connection = &mut self.commits.lock().connection;
        if !try_checkpoint(connection, CheckpointMode::TRUNCATE).at(self.url(), CHECKPOINT)? {
            return Ok(self.sizes().wal);
        }
        for connection in [&*connection, &reads] {
            remove_wal_at_close(connection, true).at(self.url(), CLOSE)?;
        }
        Ok(None)
    }
}

/// Returns the URL that names the store in an error.
fn url(path: &Path) -> StoreUrl {
    StoreUrl::Sqlite(path.to_owned())
}

/// Classifies an error by SQLite's result code (<https://sqlite.org/rescode.html>).
impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        use ErrorCode::{CannotOpen, DatabaseBusy, DatabaseLocked, OutOfMemory};
        // Other connections kept taking the WAL's locks.
        use ErrorCode::FileLockingProtocolFailed;
        use ErrorCode::{DiskFull, PermissionDenied, ReadOnly, SystemIoFailure};
        let Some(failure) = error.sqlite_error() else {
            // A row that this service did not write.
            return Self::new(Kind::Damaged, error.to_string());
        };
        match (failure.extended_code, failure.code) {
            (SQLITE_IOERR_FSYNC | SQLITE_IOERR_DIR_FSYNC, _) => {
                return Self::new(Kind::SyncFailed, error.to_string());
            }
            (SQLITE_IOERR_SHMSIZE, _) => {
                let message =
                    "the disk is full: SQLite cannot create the WAL index beside the store";
                return Self::new(Kind::Full, message);
            }
            (_, CannotOpen | SystemIoFailure) => {
                // This process may open no file at all, such as with too few open files.
                if let Err(error) = File::open("/dev/null") {
                    return Self::new(Kind::Unavailable, error.to_string());
                }
            }
            _ => {}
        }
        let kind = match failure.code {
            DiskFull => Kind::Full,
            CannotOpen
            | DatabaseBusy
            | DatabaseLocked
            | FileLockingProtocolFailed
            | OutOfMemory => Kind::Unavailable,
            // These codes say nothing about the content of the file.
            PermissionDenied | ReadOnly | SystemIoFailure => Kind::Other,
            _ => Kind::Damaged,
        };
        Self::new(kind, error.to_string())
    }
}

#[cfg(test)]
mod tests;
