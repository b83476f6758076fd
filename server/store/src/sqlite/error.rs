//! Conversion of SQLite's errors to errors of the store.

use std::ffi::c_int;
use std::io::{self, ErrorKind};
use std::path::Path;

use rusqlite::ErrorCode;
use rusqlite::ffi::{SQLITE_IOERR_DIR_FSYNC, SQLITE_IOERR_FSYNC, SQLITE_IOERR_SHMSIZE};

use crate::error::{Cause, Reason, StoreError, WriteError};
use crate::url::StoreUrl;

/// Returns the URL that names the store in an error.
pub fn url(path: &Path) -> StoreUrl {
    StoreUrl::Sqlite(path.to_owned())
}

/// The faults of a damaged database, mostly in the words of SQLite's own check.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.join("; "))]
pub struct Unsound(pub Vec<String>);

/// Returns a function that turns a cause into a [`StoreError::Failed`]. `doing` is what was
/// attempted on the store at `path`.
pub fn failed<E: Into<Cause>>(path: &Path, doing: &'static str) -> impl Fn(E) -> StoreError {
    move |cause| {
        let cause = clarify(cause.into());
        let reason = reason(&cause);
        StoreError::Failed { url: url(path), doing, cause, reason }
    }
}

/// Replaces the cause if SQLite's message says less than its error code.
fn clarify(cause: Cause) -> Cause {
    let error = cause.downcast_ref().and_then(rusqlite::Error::sqlite_error);
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
            _ => Self::Fault(error.into()),
        }
    }
}

#[cfg(test)]
mod tests;
