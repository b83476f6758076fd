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
mod wal;

use std::ffi::c_int;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use rusqlite::ffi::{SQLITE_IOERR_DIR_FSYNC, SQLITE_IOERR_FSYNC, SQLITE_IOERR_SHMSIZE};
use rusqlite::{Connection, ErrorCode};

use crate::engine::{Checked, Closed, Engine, Mode, Opened, Outcome, Row, Sizes};
use crate::error::{Cause, Reason, StoreError, WriteError};
use crate::names::Names;
use crate::sqlite::files::{
    CREATE, OPEN, OpenedFiles, has_pages_beside, lock, require_index_of_server,
    require_write_access, sizes,
};
use crate::sqlite::wal::{
    Access, Checkpoints, WAL_BOUND, checkpoint_truncate, connect, remove_wal_at_close,
    sync_empty_wal, truncate_long_wal, try_checkpoint_truncate, use_wal,
};
use crate::token::{StoredToken, TokenName};
use crate::url::StoreUrl;

pub use copy::{copy_from_file, copy_from_pages};

const OPEN_WITH_WAL: &str = "read the file together with its WAL, which takes its -shm file, or \
    write access to the file and its folder";
const CHECKPOINT: &str = "copy the store's WAL into its file";
const CLOSE: &str = "close the store";
const READ_TOKENS: &str = "read the tokens";

/// See [`crate::open`].
pub fn open(names: &'static Names, path: &Path, mode: Mode) -> Result<Opened, StoreError> {
    let (store, is_new) = match mode {
        Mode::Read => (open_to_read(names, path)?, false),
        Mode::Change => (open_to_change(names, path)?, false),
        Mode::Serve => open_to_serve(names, path, false)?,
        Mode::ServeOrCreate => open_to_serve(names, path, true)?,
    };
    Ok(Opened { store: Arc::new(store), is_new })
}

/// Opens a store for serving, and with `creates` creates it if there is none. Returns whether it was
/// created.
fn open_to_serve(
    names: &'static Names,
    path: &Path,
    creates: bool,
) -> Result<(Sqlite, bool), StoreError> {
    let (file, was_created) =
        if creates { files::open_or_create(path)? } else { (files::open(path)?, false) };
    lock(&file, path)?;
    if !was_created {
        schema::require_store(path, &file, names)?;
    }
    // This also rolls back a creation that was killed.
    let mut store = Sqlite::open(names, path, file, Access::Write)?;
    let is_new = creates && store.create()?;
    store.prepare_to_serve()?;
    Ok((store, is_new))
}

/// Opens a store to change its tokens.
fn open_to_change(names: &'static Names, path: &Path) -> Result<Sqlite, StoreError> {
    let file = files::open(path)?;
    require_index_of_server(&file, path)?;
    schema::require_store(path, &file, names)?;
    Sqlite::open(names, path, file, Access::Write)
}

/// Opens a store to read it.
///
/// SQLite's readers write to the WAL index. Without write access to the file and its folder, a file
/// that no server has open, and that contains everything, is read alone. Any other store is read
/// through the WAL and the index that are there, or not at all. Nothing is read past a WAL.
pub fn open_to_read(names: &'static Names, path: &Path) -> Result<Sqlite, StoreError> {
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
pub fn open_state_to_read(names: &'static Names, path: &Path) -> Result<Sqlite, StoreError> {
    let store = open_to_read(names, path)?;
    store.hold_state()?;
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
    served_files: Option<OpenedFiles>,
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
    fn open(
        names: &'static Names,
        path: &Path,
        file: File,
        access: Access,
    ) -> Result<Self, StoreError> {
        let open = if access == Access::Read { OPEN_WITH_WAL } else { OPEN };
        let connect = || connect(path, access).map_err(failed(path, open));
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

    /// Creates the store in one transaction, unless it exists. Returns whether it was created.
    fn create(&mut self) -> Result<bool, StoreError> {
        let connection = &mut self.commits.get_mut().connection;
        schema::create(connection, self.names).map_err(failed(&self.path, CREATE))
    }

    /// Prepares the store for serving. Its whole content is on the disk when this returns.
    fn prepare_to_serve(&mut self) -> Result<(), StoreError> {
        // From now on closing a connection keeps the WAL, unless `close` has checkpointed it.
        self.remove_wal_at_close(false)?;
        let connection = &self.commits.get_mut().connection;
        use_wal(connection).map_err(failed(&self.path, OPEN))?;
        checkpoint_truncate(connection).map_err(failed(&self.path, CHECKPOINT))?;
        sync_empty_wal(&self.path).map_err(failed(&self.path, CHECKPOINT))?;
        self.served_files =
            Some(OpenedFiles::of(&self.path, &self.file).map_err(failed(&self.path, OPEN))?);
        Ok(())
    }

    /// Sets whether the last connection that is closed checkpoints and removes the WAL.
    fn remove_wal_at_close(&mut self, remove: bool) -> Result<(), StoreError> {
        for connection in [&self.commits.get_mut().connection, self.reads.get_mut()] {
            remove_wal_at_close(connection, remove).map_err(failed(&self.path, OPEN))?;
        }
        Ok(())
    }

    /// Makes everything that is read from now on one state of the store.
    fn hold_state(&self) -> Result<(), StoreError> {
        self.reads.lock().execute_batch("BEGIN").map_err(failed(&self.path, OPEN))
    }

    /// Checks the table of the tokens, and nothing else.
    pub fn check_tokens(&self) -> Result<(), StoreError> {
        let damage = schema::damage(&self.reads.lock(), "main.integrity_check(tokens)");
        match damage.map_err(failed(&self.path, READ_TOKENS))? {
            damage if damage.is_empty() => Ok(()),
            damage => Err(failed(&self.path, READ_TOKENS)(Unsound(damage))),
        }
    }

    /// Fails if a file of a served store was removed, renamed or replaced.
    fn require_files_in_place(&self) -> Result<(), WriteError> {
        self.served_files.as_ref().map_or(Ok(()), OpenedFiles::are_in_place)
    }
}

impl Engine for Sqlite {
    /// Checks the files before and after the transaction: nobody would find a row that was
    /// committed to a removed or replaced file.
    fn commit(&self, rows: &[Row], _: Instant) -> Result<Vec<Outcome>, WriteError> {
        self.require_files_in_place()?;
        let outcomes = rows::commit(&mut self.commits.lock().connection, self.names, rows)?;
        self.require_files_in_place()?;
        Ok(outcomes)
    }

    fn upkeep(&self) -> Result<(), WriteError> {
        let Commits { connection, checkpoints } = &mut *self.commits.lock();
        checkpoints.run_if_long(connection)
    }

    fn page(&self, after: Option<i64>, limit: usize) -> Result<Vec<Row>, StoreError> {
        let connection = self.reads.lock();
        rows::page(&connection, self.names, after, limit)
            .map_err(failed(&self.path, "read the rows"))
    }

    fn count(&self) -> Result<u64, StoreError> {
        rows::count(&self.reads.lock(), self.names).map_err(failed(&self.path, "count the rows"))
    }

    fn tokens(&self) -> Result<Vec<StoredToken>, StoreError> {
        rows::tokens(&self.reads.lock()).map_err(failed(&self.path, READ_TOKENS))
    }

    fn add_token(&self, token: &StoredToken) -> Result<(), StoreError> {
        let added = rows::add_token(&mut self.reads.lock(), token);
        if added.map_err(failed(&self.path, "store the token"))? {
            Ok(())
        } else {
            let name = token.name.clone();
            Err(StoreError::TokenNameTaken { name, url: url(&self.path) })
        }
    }

    fn revoke_token(&self, name: &TokenName) -> Result<(), StoreError> {
        let revoked = rows::revoke_token(&mut self.reads.lock(), name);
        if revoked.map_err(failed(&self.path, "revoke the token"))? {
            Ok(())
        } else {
            Err(StoreError::NoSuchToken(name.clone()))
        }
    }

    fn check(&self) -> Result<Checked, StoreError> {
        let faults = schema::faults(&self.reads.lock(), self.names);
        let faults = faults.map_err(failed(&self.path, "check the store"))?;
        Ok(Checked { faults, sizes: sizes(&self.path) })
    }

    fn inspect(&self) -> Result<Sizes, WriteError> {
        self.require_files_in_place()?;
        if sizes(&self.path).wal > Some(WAL_BOUND.into()) {
            truncate_long_wal(&self.path)?;
        }
        Ok(sizes(&self.path))
    }

    /// Runs a last checkpoint. If another program blocks it, the WAL stays, and the next start
    /// copies it into the store's file.
    fn close(&self) -> Result<Closed, StoreError> {
        // Locked first: reading the tokens at the same time would block the checkpoint.
        let reads = self.reads.lock();
        self.require_files_in_place().map_err(failed(&self.path, CLOSE))?;
        let connection = &mut self.commits.lock().connection;
        if !try_checkpoint_truncate(connection).map_err(failed(&self.path, CHECKPOINT))? {
            return Ok(Closed::WalLeft { bytes: sizes(&self.path).wal.unwrap_or_default() });
        }
        for connection in [&*connection, &reads] {
            remove_wal_at_close(connection, true).map_err(failed(&self.path, CLOSE))?;
        }
        Ok(Closed::Clean)
    }
}

/// Returns the URL that names the store in an error.
fn url(path: &Path) -> StoreUrl {
    StoreUrl::Sqlite(path.to_owned())
}

/// The faults of a damaged database, mostly in the words of SQLite's own check.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.join("; "))]
struct Unsound(Vec<String>);

/// Returns a function that turns a cause into a [`StoreError::Failed`]. `doing` is what was
/// attempted on the store at `path`.
fn failed<E: Into<Cause>>(path: &Path, doing: &'static str) -> impl Fn(E) -> StoreError {
    move |cause| {
        let cause = clarify(cause.into());
        let reason = reason(&cause);
        StoreError::Failed { url: url(path), doing, cause, reason }
    }
}

/// Replaces the cause if SQLite's message says less than its error code.
fn clarify(cause: Cause) -> Cause {
    let error = cause.downcast_ref().and_then(rusqlite::Error::sqlite_error);
    if error.is_some_and(|error| {
        matches!(error.code, ErrorCode::CannotOpen | ErrorCode::SystemIoFailure)
    }) && let Err(error) = File::open("/dev/null")
    {
        // This process may open no file at all, such as with too few open files.
        return error.into();
    }
    if error.is_some_and(|error| error.extended_code == SQLITE_IOERR_SHMSIZE) {
        let message = "the disk is full: SQLite cannot create the WAL index beside the store";
        return io::Error::new(ErrorKind::StorageFull, message).into();
    }
    cause
}

/// Classifies a cause.
fn reason(cause: &Cause) -> Reason {
    use ErrorCode::{DiskFull, PermissionDenied, ReadOnly, SystemIoFailure};
    if cause.is::<Unsound>() {
        return Reason::Damaged;
    }
    if let Some(error) = cause.downcast_ref::<io::Error>() {
        let is_full = error.kind() == ErrorKind::StorageFull;
        return if is_full { Reason::Full } else { Reason::Other };
    }
    match cause.downcast_ref::<rusqlite::Error>().map(rusqlite::Error::sqlite_error_code) {
        Some(Some(DiskFull)) => Reason::Full,
        // These codes say nothing about the content of the file.
        Some(Some(PermissionDenied | ReadOnly | SystemIoFailure)) | None => Reason::Other,
        Some(Some(code)) if may_pass(code) => Reason::Other,
        // This includes a row whose columns do not have the expected types.
        Some(_) => Reason::Damaged,
    }
}

fn is_fsync_error(extended_code: c_int) -> bool {
    matches!(extended_code, SQLITE_IOERR_FSYNC | SQLITE_IOERR_DIR_FSYNC)
}

/// Whether the reason may pass while the service runs, for example because an operator frees disk
/// space.
fn may_pass(code: ErrorCode) -> bool {
    use ErrorCode::{CannotOpen, DatabaseBusy, DatabaseLocked, DiskFull, OutOfMemory};
    // Other connections kept taking the WAL's locks.
    use ErrorCode::FileLockingProtocolFailed;
    matches!(
        code,
        CannotOpen
            | DatabaseBusy
            | DatabaseLocked
            | DiskFull
            | FileLockingProtocolFailed
            | OutOfMemory
    )
}

/// Classifies an error of a commit by SQLite's result code (<https://sqlite.org/rescode.html>).
impl From<rusqlite::Error> for WriteError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error() {
            Some(failure) if is_fsync_error(failure.extended_code) => {
                Self::SyncFailed(error.into())
            }
            Some(failure) if may_pass(failure.code) => Self::Unavailable(error.into()),
            Some(failure) if failure.code == ErrorCode::DatabaseCorrupt => {
                Self::Fault(format!("{error}: the file of the store is damaged, check it").into())
            }
            _ => Self::Fault(error.into()),
        }
    }
}

#[cfg(test)]
mod tests;
