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
    if let Some(error) = cause.downcast_ref::<io::Error>() {
        return match error.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Reason::Denied,
            ErrorKind::StorageFull => Reason::Full,
            _ => Reason::Other,
        };
    }
    match cause.downcast_ref::<rusqlite::Error>().map(rusqlite::Error::sqlite_error_code) {
        Some(Some(ErrorCode::PermissionDenied)) => Reason::Denied,
        Some(Some(ErrorCode::DiskFull)) => Reason::Full,
        // They say nothing of what is in the file.
        Some(Some(ErrorCode::ReadOnly | ErrorCode::SystemIoFailure)) | None => Reason::Other,
        Some(Some(code)) if may_pass(code) => Reason::Other,
        // Also a row that does not have the types of this service.
        Some(_) => Reason::Damaged,
    }
}

/// Whether a store cannot be opened because SQLite cannot write the files beside it.
pub fn is_unwritable(error: &StoreError) -> bool {
    let StoreError::Failed { cause, reason, .. } = error else { return false };
    let code = cause.downcast_ref().and_then(rusqlite::Error::sqlite_error_code);
    matches!(reason, Reason::Denied | Reason::Full) || code == Some(ErrorCode::CannotOpen)
}

/// Whether what is in the store is not as it was written.
pub fn is_damaged(error: &StoreError) -> bool {
    matches!(error, StoreError::Failed { reason: Reason::Damaged, .. })
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
