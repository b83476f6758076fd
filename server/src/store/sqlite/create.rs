//! A new store file, and how an existing one is recognised.
//!
//! A store is made in a temporary file beside its place and moved there when it is whole, so that
//! a crash leaves a store or nothing. What is in the place already is never touched.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

use percent_encoding::{AsciiSet, CONTROLS, percent_encode};
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::{APPLICATION_ID, SCHEMA_VERSION, failed, url};
use crate::store::StoreError;

const CREATE: &str = "create the store";
const OPEN: &str = "open the store";

/// `id` is the rowid, so plants lie in the order of their ids. `digest` is the SHA-256 of a
/// token; times are Unix seconds.
const SCHEMA: &str = "
    CREATE TABLE plants (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        tag TEXT
    ) STRICT;
    CREATE TABLE tokens (
        name TEXT PRIMARY KEY,
        digest BLOB NOT NULL UNIQUE,
        first_characters TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        expires_at INTEGER
    ) STRICT, WITHOUT ROWID;
";

/// Creates the store unless something is there; whether this call did.
///
/// # Errors
///
/// [`StoreError::Failed`]; then there is no store, or a whole one whose name is not durable yet.
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
        // The name is durable when its folder is. Where that fails the store stays: another
        // process may serve it by now, and a writer syncs the folder before it answers.
        Ok(_) => File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map(|()| true)
            .map_err(failed(CREATE)),
        Err(lost) if lost.error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(failed(CREATE)(error.error)),
    }
}

/// The identity is written under a rollback journal, so it stands in the file itself, where
/// [`check`] reads it; the switch to the log comes last.
fn write_schema(path: &Path) -> rusqlite::Result<()> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    let transaction = connection.unchecked_transaction()?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    transaction.execute_batch(SCHEMA)?;
    transaction.commit()?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.close().map_err(|(_, error)| error)
}

/// Looks at the file without a lock, a log or a trace: `immutable` reads the file and nothing
/// else (<https://sqlite.org/uri.html#uriimmutable>).
pub(super) fn check(path: &Path) -> Result<(), StoreError> {
    if !path.try_exists().map_err(failed(OPEN))? {
        return Err(StoreError::Missing(url(path)));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(immutable(path), flags).map_err(failed(OPEN))?;
    // A checkpoint that was cut off leaves a first page that counts more pages than the file has.
    // The log has them; without it SQLite would call the file malformed, unless told to repair it.
    connection.pragma_update(None, "writable_schema", true).map_err(failed(OPEN))?;
    check_schema(&connection, path)
}

pub(super) fn check_schema(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, u32>(0));
    let (application, schema) = match (pragma("application_id"), pragma("user_version")) {
        (Ok(application), Ok(schema)) => (application, schema),
        (Err(error), _) | (_, Err(error)) => {
            return Err(match error.sqlite_error_code() {
                Some(ErrorCode::NotADatabase) => StoreError::NotAPlantStore(url(path)),
                _ => failed(OPEN)(error),
            });
        }
    };
    if application != APPLICATION_ID {
        return Err(StoreError::NotAPlantStore(url(path)));
    }
    if schema > SCHEMA_VERSION {
        return Err(StoreError::NewerSchema {
            url: url(path),
            found: schema,
            known: SCHEMA_VERSION,
        });
    }
    Ok(())
}

/// What must not stand in the path of a URI as it is (<https://sqlite.org/uri.html>).
const NOT_IN_PATH: &AsciiSet = &CONTROLS.add(b'%').add(b'?').add(b'#');

fn immutable(path: &Path) -> String {
    // An empty authority, lest two slashes at the beginning of the path be taken for one's.
    let authority = if path.is_absolute() { "//" } else { "" };
    let path = percent_encode(path.as_os_str().as_encoded_bytes(), NOT_IN_PATH);
    format!("file:{authority}{path}?immutable=1")
}
