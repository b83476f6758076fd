//! The file of a store that is there: how it is recognised, without a lock, a WAL or a change.
//!
//! A file that is not a plant store must never be changed.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, access};
use percent_encoding::{AsciiSet, CONTROLS, percent_encode};
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::store::error::StoreError;
use crate::store::sqlite::error::{failed, url};
use crate::store::sqlite::mark::Mark;
use crate::store::sqlite::names::{denied, folder_of, index_of, journal_of, left_beside, wal_of};
use crate::store::sqlite::schema;
use crate::store::version::check_known;

const OPEN: &str = "open the store";

/// What a process may do with the file and its folder.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Rights {
    Read,
    /// A reader beside a server needs this too: it writes the WAL's index.
    Write,
}

/// Refuses anything that is not a plant store, and a store without these rights.
pub fn recognise(path: &Path, rights: Rights) -> Result<(), StoreError> {
    check_access(path, rights)?;
    // A store has none, and SQLite would roll a foreign one back into it.
    let journal = journal_of(path);
    if journal.exists() {
        return Err(StoreError::ForeignFile {
            url: url(path),
            file: journal.display().to_string(),
        });
    }
    version(&alone(path).map_err(failed(OPEN))?, path).map(drop)
}

/// What the operating system says about the path, in the words of an operator.
fn check_access(path: &Path, rights: Rights) -> Result<(), StoreError> {
    let metadata = match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            if path.is_symlink() {
                let nowhere = format!("{} is a link to a file that is not there", path.display());
                return Err(failed(OPEN)(nowhere));
            }
            return Err(match left_beside(path) {
                None => StoreError::Missing(url(path)),
                Some(files) => StoreError::LeftBehind { url: url(path), files },
            });
        }
        result => result.map_err(failed(OPEN))?,
    };
    let folder = folder_of(path);
    if metadata.is_dir() {
        return Err(failed(OPEN)(format!("{} is a folder; name a file in it", path.display())));
    }
    if !metadata.is_file() {
        return Err(failed(OPEN)(format!("{} is not a regular file", path.display())));
    }
    // A reader of a store at rest has an index of its own.
    let files = [path.to_owned(), wal_of(path), index_of(path)];
    let (right, flags, files) = match rights {
        Rights::Read => ("read", AccessFlags::R_OK, &files[..2]),
        Rights::Write => ("read and write", AccessFlags::R_OK | AccessFlags::W_OK, &files[..]),
    };
    let is_denied = |file: &&PathBuf| file.exists() && access(*file, flags).is_err();
    let fault = if let Some(file) = files.iter().find(is_denied) {
        denied(right, file)
    } else if rights == Rights::Write
        && access(folder, AccessFlags::W_OK | AccessFlags::X_OK).is_err()
    {
        denied("write to the folder", folder)
    } else {
        return Ok(());
    };
    Err(failed(OPEN)(io::Error::new(ErrorKind::PermissionDenied, fault)))
}

/// The schema version of the store, which this release knows.
pub fn version(connection: &Connection, path: &Path) -> Result<u32, StoreError> {
    match schema::version(connection) {
        Ok(Some(found)) => check_known(found, &url(path)).map(|()| found),
        Ok(None) => Err(StoreError::NotAPlantStore(url(path))),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
            Err(StoreError::NotAPlantStore(url(path)))
        }
        Err(error) => Err(failed(OPEN)(error)),
    }
}

/// The mark in the file itself, without its WAL; none if the file has no table for it.
///
/// # Errors
///
/// Also if the file cannot be read without its WAL.
pub fn mark(path: &Path) -> rusqlite::Result<Option<Mark>> {
    Mark::read(&alone(path)?)
}

/// Refuses a store whose server was not stopped, without a WAL: its last plants were there.
pub fn check_wal_is_there(path: &Path) -> Result<(), StoreError> {
    let wal = wal_of(path);
    let is_missing = || !wal.exists();
    // Asked twice, because a server may stop or start meanwhile.
    if is_missing() && matches!(mark(path), Ok(Some(Mark { open: true, .. }))) && is_missing() {
        return Err(StoreError::WalLost { url: url(path), wal: wal.display().to_string() });
    }
    Ok(())
}

/// Refuses a WAL that belongs to another file. Only certain while no server runs.
pub fn check_mark(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    if is_foreign(connection, path).map_err(failed(OPEN))? {
        let file = wal_of(path).display().to_string();
        return Err(StoreError::ForeignFile { url: url(path), file });
    }
    Ok(())
}

/// Whether the WAL belongs to another file. False if the file cannot be read without its WAL.
pub fn is_foreign(connection: &Connection, path: &Path) -> rusqlite::Result<bool> {
    let Ok(file) = mark(path) else {
        return Ok(false);
    };
    Ok(Mark::read(connection)?.is_some_and(|wal| !wal.belongs_to(file.as_ref())))
}

/// The file without its WAL: `immutable` reads the file and nothing else
/// (<https://sqlite.org/uri.html#uriimmutable>).
pub fn alone(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(immutable(path), flags)?;
    // After a checkpoint that was cut off, the first page counts more pages than the file has; the
    // WAL has the others. Without the WAL SQLite calls the file malformed, unless this is set.
    connection.pragma_update(None, "writable_schema", true)?;
    Ok(connection)
}

/// What must be escaped in the path of a URI (<https://sqlite.org/uri.html>).
const NOT_IN_PATH: &AsciiSet = &CONTROLS.add(b'%').add(b'?').add(b'#');

fn immutable(path: &Path) -> String {
    format!("{}?immutable=1", uri(path))
}

/// The path as a URI without parameters.
pub fn uri(path: &Path) -> String {
    // Without an empty authority, two slashes at the beginning of the path would introduce one.
    let authority = if path.is_absolute() { "//" } else { "" };
    let path = percent_encode(path.as_os_str().as_encoded_bytes(), NOT_IN_PATH);
    format!("file:{authority}{path}")
}
