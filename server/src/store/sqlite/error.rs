//! SQLite's errors, as those of the store.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use rusqlite::ffi::{SQLITE_IOERR_DIR_FSYNC, SQLITE_IOERR_FSYNC};

use crate::store::engine::{Cause, CommitError, StoreError};
use crate::store::url::StoreUrl;

/// Turns a cause into a [`StoreError::Failed`] that says what was tried.
pub fn failed<E: Into<Cause>>(doing: &'static str) -> impl Fn(E) -> StoreError {
    move |cause| StoreError::Failed { doing, cause: cause.into() }
}

/// How a store of this engine is named in an error.
pub fn url(path: &Path) -> StoreUrl {
    StoreUrl::Sqlite(path.to_owned())
}

/// The names of files, for a message.
pub fn names(files: &[PathBuf]) -> String {
    files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// What an error means for a commit, by SQLite's result code (<https://sqlite.org/rescode.html>).
impl From<rusqlite::Error> for CommitError {
    fn from(error: rusqlite::Error) -> Self {
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
