//! The store's file: how a new one is made, and how an existing one is recognised.
//!
//! A store is made in a temporary file beside its place and renamed when it is whole, so a crash
//! leaves a store or nothing. A file that is not a plant store must never be changed.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

use percent_encoding::{AsciiSet, CONTROLS, percent_encode};
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::store::engine::StoreError;
use crate::store::sqlite::error::{failed, url};
use crate::store::sqlite::schema;

const CREATE: &str = "create the store";
const OPEN: &str = "open the store";

/// Creates the store unless something is there; returns whether it did.
///
/// # Errors
///
/// There is no store then, or a whole one whose name is not durable yet.
pub fn create(path: &Path) -> Result<bool, StoreError> {
    if path.symlink_metadata().is_ok() {
        return Ok(false);
    }
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let file = tempfile::Builder::new()
        .prefix(".plant-store-")
        .tempfile_in(folder)
        .map_err(failed(CREATE))?;
    write_schema(file.path()).map_err(failed(CREATE))?;
    match file.persist_noclobber(path) {
        // The name is durable once the folder is synced. Where that fails, the store stays:
        // another process may serve it by now, and a writer syncs the folder before it answers.
        Ok(_) => File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map(|()| true)
            .map_err(failed(CREATE)),
        Err(lost) if lost.error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(failed(CREATE)(error.error)),
    }
}

/// The schema is written with a rollback journal, so the application id is in the file itself,
/// where [`check`] reads it. After that the journal becomes a write-ahead log.
fn write_schema(path: &Path) -> rusqlite::Result<()> {
    let mut connection = Connection::open(path)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    let transaction = connection.transaction()?;
    schema::bring_up_to_date(&transaction)?;
    transaction.commit()?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.close().map_err(|(_, error)| error)
}

/// Refuses anything that is not a plant store, without a lock, a log or a change: `immutable`
/// reads the file and nothing else (<https://sqlite.org/uri.html#uriimmutable>).
pub fn check(path: &Path) -> Result<(), StoreError> {
    if !path.try_exists().map_err(failed(OPEN))? {
        return Err(StoreError::Missing(url(path)));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(immutable(path), flags).map_err(failed(OPEN))?;
    // After a checkpoint that was cut off, the first page counts more pages than the file has; the
    // log has the others. Without the log SQLite calls the file malformed, unless this is set.
    connection.pragma_update(None, "writable_schema", true).map_err(failed(OPEN))?;
    version(&connection, path).map(drop)
}

/// The schema version of the store, which this release knows.
pub fn version(connection: &Connection, path: &Path) -> Result<u32, StoreError> {
    match schema::version(connection) {
        Ok(Some(found)) if found > schema::VERSION => {
            Err(StoreError::NewerSchema { url: url(path), found, known: schema::VERSION })
        }
        Ok(Some(found)) => Ok(found),
        Ok(None) => Err(StoreError::NotAPlantStore(url(path))),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
            Err(StoreError::NotAPlantStore(url(path)))
        }
        Err(error) => Err(failed(OPEN)(error)),
    }
}

/// What must be escaped in the path of a URI (<https://sqlite.org/uri.html>).
const NOT_IN_PATH: &AsciiSet = &CONTROLS.add(b'%').add(b'?').add(b'#');

fn immutable(path: &Path) -> String {
    // Without an empty authority, two slashes at the beginning of the path would introduce one.
    let authority = if path.is_absolute() { "//" } else { "" };
    let path = percent_encode(path.as_os_str().as_encoded_bytes(), NOT_IN_PATH);
    format!("file:{authority}{path}?immutable=1")
}
