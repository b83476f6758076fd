//! SQLite's errors, as those of the store.

use std::path::Path;

use rusqlite::ErrorCode;
use rusqlite::ffi::{SQLITE_IOERR_DIR_FSYNC, SQLITE_IOERR_FSYNC};

use crate::store::error::CommitError;
use crate::store::url::StoreUrl;

/// How a store of this engine is named in an error.
pub fn url(path: &Path) -> StoreUrl {
    StoreUrl::Sqlite(path.to_owned())
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
