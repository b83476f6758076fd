//! A new store: a temporary file beside its place, renamed when it is whole.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::{Path, PathBuf};

use nix::unistd::geteuid;
use rusqlite::Connection;
use tempfile::NamedTempFile;

use crate::store::error::{Cause, StoreError};
use crate::store::sqlite::error::{failed, url};
use crate::store::sqlite::file::{denied, folder_of, left_beside, lock, sync_folder_of};
use crate::store::sqlite::header::Header;
use crate::store::sqlite::schema::TABLES;

pub const CREATE: &str = "create the store";

/// What the name of a temporary file begins with.
const PREFIX: &str = ".plant-store-";

/// See [`crate::store::unfinished`].
pub fn unfinished(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder_of(path)).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path());
    let is_one = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(PREFIX) && !name.ends_with("-wal") && !name.ends_with("-shm")
    };
    files.filter(is_one).collect()
}

/// Makes an empty store, unless something is in the place. Returns its file with the server's lock:
/// the server that has made a store is the one that serves it.
pub fn create(path: &Path) -> Result<Option<File>, StoreError> {
    match make(path).and_then(|file| publish(file, path)) {
        Err(StoreError::Exists(_)) => Ok(None),
        made => made.map(Some),
    }
}

/// Makes an empty store beside its place.
pub fn make(path: &Path) -> Result<NamedTempFile, StoreError> {
    // A server that starts at the same time may have made the store, and then its WAL.
    let left = left_beside(path);
    if path.symlink_metadata().is_ok() {
        return Err(StoreError::Exists(url(path)));
    }
    if let Some(files) = left {
        return Err(StoreError::LeftBehind { url: url(path), files });
    }
    make_in(folder_of(path)).map_err(failed(CREATE))
}

fn make_in(folder: &Path) -> Result<NamedTempFile, Cause> {
    if !fs::metadata(folder).is_ok_and(|folder| folder.is_dir()) {
        return Err(format!("there is no folder {}", folder.display()).into());
    }
    let file = match tempfile::Builder::new().prefix(PREFIX).tempfile_in(folder) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            return Err(denied("write to the folder", folder).into());
        }
        file => file?,
    };
    if geteuid().is_root() {
        // The service that uses the folder must be able to use a store that root restores in it.
        // In a container root may not be allowed to; then the file stays root's.
        let owner = fs::metadata(folder)?;
        let _ = fchown(file.as_file(), Some(owner.uid()), Some(owner.gid()));
    }
    let mut connection = Connection::open(file.path())?;
    connection.pragma_update(None, "synchronous", "off")?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(TABLES)?;
    Header::random().write(&transaction)?;
    transaction.commit()?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.close().map_err(|(_, error)| error)?;
    Ok(file)
}

/// Puts the store into its place, and returns its file with the server's lock.
///
/// No connection is open on the file any more. Its descriptor was opened before the first write, so
/// it reports every write that failed.
pub fn publish(file: NamedTempFile, path: &Path) -> Result<File, StoreError> {
    file.as_file().sync_all().map_err(failed(CREATE))?;
    lock(file.as_file(), path)?;
    match file.persist_noclobber(path) {
        Ok(file) => {
            sync_folder_of(path).map_err(failed(CREATE))?;
            Ok(file)
        }
        Err(lost) if lost.error.kind() == ErrorKind::AlreadyExists => {
            Err(StoreError::Exists(url(path)))
        }
        Err(lost) => Err(failed(CREATE)(lost.error)),
    }
}
