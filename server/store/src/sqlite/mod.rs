//! SQLite, the embedded engine. A store is an ordinary SQLite database, and SQLite's own tools work
//! on it.
//!
//! The store uses a write-ahead log and `synchronous=EXTRA`: a commit returns when the WAL is
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
mod open;
mod rows;
mod schema;
mod served_files;
mod wal;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Instant;

use parking_lot::Mutex;
use rusqlite::ffi::{SQLITE_IOERR_DIR_FSYNC, SQLITE_IOERR_FSYNC, SQLITE_IOERR_SHMSIZE};
use rusqlite::wal::CheckpointMode;
use rusqlite::{Connection, ErrorCode};

use crate::Names;
use crate::engine::{Engine, Outcome, Row, Sizes};
use crate::error::{At, Error, Kind};
use crate::sqlite::files::sizes;
use crate::sqlite::served_files::ServedFiles;
use crate::sqlite::wal::{
    WAL_BOUND, checkpoint_if_long, checkpoint_truncate, remove_wal_at_close, try_checkpoint,
};
use crate::token::{StoredToken, TokenName};
use crate::url::StoreUrl;

pub use copy::copy;
pub use open::open;

const CHECKPOINT: &str = "copy the store's WAL into its file";
const CLOSE: &str = "close the store";
const READ_ROWS: &str = "read the rows";

/// A store in a file, with the WAL and the WAL index beside it (`-wal`, `-shm`).
pub struct Sqlite {
    names: &'static Names,
    path: PathBuf,
    /// Commits rows.
    commits: Mutex<Connection>,
    /// Reads rows and tokens without waiting for a commit, and changes the tokens.
    reads: Mutex<Connection>,
    /// The files of the store if it is being served.
    served_files: Option<ServedFiles>,
    /// Holds the server's lock (flock(2)). It is dropped after the connections.
    file: File,
}

impl Sqlite {
    fn url(&self) -> StoreUrl {
        url(&self.path)
    }

    /// Fails if the files of a served store are not as SQLite left them.
    ///
    /// If the WAL was removed, its open file still has all commits. They would be lost with this
    /// process, so this writes them back. Until that has succeeded, the process goes on, and no
    /// create is committed.
    fn require_files_in_place(&self) -> Result<(), Error> {
        let Some(files) = &self.served_files else { return Ok(()) };
        let Err(lost) = files.are_in_place() else { return Ok(()) };
        if !files.have_lost_no_commit() {
            let message = format!(
                "{lost}; unless only the -shm file is missing, which a start creates again, put \
                 the files back as they were, or restore a backup. Then start the server again"
            );
            return Err(Error::new(lost.kind, message));
        }
        if let Err(cause) = files.restore_wal() {
            let message = format!(
                "{lost}, and cannot be written back: {cause}. Until it is, only this process has \
                 the latest commits"
            );
            return Err(Error::new(Kind::Unavailable, message));
        }
        let message = format!("{lost}; it was written back, so start the server again");
        Err(Error::new(lost.kind, message))
    }

    /// Checkpoints the WAL before a change of the tokens. After a crash the pages of the WAL may
    /// not be on the disk, and a change written behind them could be lost with them (`wal.rs`).
    ///
    /// If a server is running, it has checkpointed the WAL at its start, so it does not matter if a
    /// reader blocks this checkpoint. Otherwise this waits for the reader, and fails if it stays.
    fn checkpoint_before_change(&self, connection: &mut Connection) -> Result<(), Error> {
        let is_complete = try_checkpoint(connection, CheckpointMode::TRUNCATE)?;
        if !is_complete && self.served_files.is_none() && self.file.try_lock_shared().is_ok() {
            self.file.unlock()?;
            checkpoint_truncate(connection)?;
        }
        Ok(())
    }
}

impl Engine for Sqlite {
    /// Checks the files first: nobody would find a row that was committed to a replaced file.
    ///
    /// A checkpoint comes before the transaction, because the answers would wait for one after it.
    /// If it fails, so does the commit, unless the reason may pass, such as a disk that is too full
    /// for the store's file.
    ///
    /// A test write rewrites a page unchanged, because a transaction without a write would not show
    /// whether the store takes writes.
    fn commit(&self, rows: &[Row], _: Instant) -> Result<Vec<Outcome>, Error> {
        self.require_files_in_place()?;
        let mut connection = self.commits.lock();
        checkpoint_if_long(&mut connection)?;
        let transaction = connection.transaction()?;
        if rows.is_empty() {
            // SQLite leaves this field to the user, and the store does not use it.
            let version: i32 =
                transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
            transaction.pragma_update(None, "user_version", version)?;
        }
        let outcomes = add(&transaction, self.names, rows)?;
        transaction.commit()?;
        Ok(outcomes)
    }

    fn get(&self, id: i64, _: Instant) -> Result<Option<Row>, Error> {
        rows::get(&self.reads.lock(), self.names, id).at(self.url(), READ_ROWS)
    }

    fn page(&self, after: Option<i64>, limit: usize) -> Result<Vec<Row>, Error> {
        let connection = self.reads.lock();
        rows::page(&connection, self.names, after, limit).at(self.url(), READ_ROWS)
    }

    fn count(&self) -> Result<u64, Error> {
        rows::count(&self.reads.lock(), self.names).at(self.url(), "count the rows")
    }

    fn tokens(&self) -> Result<Vec<StoredToken>, Error> {
        rows::tokens(&self.reads.lock()).at(self.url(), "read the tokens")
    }

    fn add_token(&self, token: &StoredToken) -> Result<(), Error> {
        let mut connection = self.reads.lock();
        let doing = "store the token";
        self.checkpoint_before_change(&mut connection).at(self.url(), doing)?;
        rows::add_token(&connection, token).at(self.url(), doing)
    }

    fn revoke_token(&self, name: &TokenName) -> Result<(), Error> {
        let mut connection = self.reads.lock();
        let doing = "revoke the token";
        self.checkpoint_before_change(&mut connection).at(self.url(), doing)?;
        rows::revoke_token(&connection, name).at(self.url(), doing)
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
            try_checkpoint(&mut self.commits.lock(), CheckpointMode::TRUNCATE)?;
        }
        Ok(())
    }

    /// Runs a last checkpoint. If another program blocks it, the WAL stays, and the next start
    /// copies it into the store's file.
    fn close(&self) -> Result<(), Error> {
        // Locked first: reading the tokens at the same time would block the checkpoint.
        let reads = self.reads.lock();
        let in_place = self.require_files_in_place();
        // Gone even if the WAL could not be written back: its commits end with this process.
        in_place.map_err(|lost| Error::new(Kind::Gone, lost.to_string())).at(self.url(), CLOSE)?;
        let mut commits = self.commits.lock();
        if try_checkpoint(&mut commits, CheckpointMode::TRUNCATE).at(self.url(), CHECKPOINT)? {
            for connection in [&commits, &reads] {
                remove_wal_at_close(connection, true).at(self.url(), CLOSE)?;
            }
        }
        Ok(())
    }
}

/// Adds the rows whose ids are free, and compares the others with the stored rows.
fn add(
    transaction: &Connection,
    Names { table, .. }: &Names,
    rows: &[Row],
) -> rusqlite::Result<Vec<Outcome>> {
    let mut insert = transaction.prepare_cached(&format!(
        "INSERT INTO {table} (id, json) VALUES (?1, ?2) ON CONFLICT (id) DO NOTHING"
    ))?;
    let mut kept =
        transaction.prepare_cached(&format!("SELECT json FROM {table} WHERE id = ?1"))?;
    let outcomes = rows.iter().map(|row| {
        if insert.execute((row.id, &*row.json))? == 1 {
            return Ok(Outcome::Created);
        }
        kept.query_row([row.id], |kept| match kept.get_ref(0)?.as_str() {
            Ok(kept) => Ok(Outcome::of_taken_id(kept, &row.json)),
            // The text is not UTF-8: another program wrote it, so it is a different row.
            Err(_) => Ok(Outcome::Conflict),
        })
    });
    outcomes.collect()
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
        use ErrorCode::{
            ConstraintViolation, DiskFull, PermissionDenied, ReadOnly, SystemIoFailure,
        };
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
            ConstraintViolation | PermissionDenied | ReadOnly | SystemIoFailure => Kind::Other,
            _ => Kind::Damaged,
        };
        Self::new(kind, error.to_string())
    }
}

#[cfg(test)]
mod tests;
