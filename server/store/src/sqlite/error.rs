//! SQLite's errors, as those of the store.

use std::ffi::c_int;
use std::io::{self, ErrorKind};
use std::path::Path;

use rusqlite::ErrorCode;
use rusqlite::ffi::{SQLITE_IOERR_DIR_FSYNC, SQLITE_IOERR_FSYNC, SQLITE_IOERR_SHMSIZE};

use crate::error::{Cause, Reason, StoreError, WriteError};
use crate::url::StoreUrl;

/// How a store of this engine is named in an error.
pub fn url(path: &Path) -> StoreUrl {
    StoreUrl::Sqlite(path.to_owned())
}

/// What is wrong with a database, as SQLite's own check words it.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.join("; "))]
pub struct Unsound(pub Vec<String>);

/// Turns a cause into a [`StoreError::Failed`] that says what was tried with the store of that
/// path, and why it failed.
pub fn failed<E: Into<Cause>>(path: &Path, doing: &'static str) -> impl Fn(E) -> StoreError {
    move |cause| {
        let cause = said_by_sqlite(cause.into());
        let reason = reason(&cause);
        StoreError::Failed { url: url(path), doing, cause, reason }
    }
}

/// The cause, in other words if SQLite's say less than its code.
fn said_by_sqlite(cause: Cause) -> Cause {
    let error = cause.downcast_ref().and_then(rusqlite::Error::sqlite_error);
    if error.is_some_and(|error| error.extended_code == SQLITE_IOERR_SHMSIZE) {
        let said = "the disk is full: SQLite cannot make the index of the WAL beside the store";
        return io::Error::new(ErrorKind::StorageFull, said).into();
    }
    cause
}

/// Why, by the cause.
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
        // These codes say nothing of what is in the file.
        Some(Some(PermissionDenied | ReadOnly | SystemIoFailure)) | None => Reason::Other,
        Some(Some(code)) if may_pass(code) => Reason::Other,
        // Also a row that does not have the types of this service.
        Some(_) => Reason::Damaged,
    }
}

fn is_of_fsync(extended_code: c_int) -> bool {
    matches!(extended_code, SQLITE_IOERR_FSYNC | SQLITE_IOERR_DIR_FSYNC)
}

/// Whether the reason may pass while the service runs. An operator may free the disk.
fn may_pass(code: ErrorCode) -> bool {
    use ErrorCode::{CannotOpen, DatabaseBusy, DatabaseLocked, DiskFull, OutOfMemory};
    // Others have taken the WAL's locks again and again.
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

/// What an error means for a commit, by SQLite's result code (<https://sqlite.org/rescode.html>).
impl From<rusqlite::Error> for WriteError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error() {
            Some(failure) if is_of_fsync(failure.extended_code) => Self::SyncFailed(error.into()),
            Some(failure) if may_pass(failure.code) => Self::Unavailable(error.into()),
            _ => Self::Fault(error.into()),
        }
    }
}

#[cfg(test)]
mod tests;
