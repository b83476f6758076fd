//! How the file of a store is made: beside its path, under a temporary name, and renamed when it is
//! whole.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::{Path, PathBuf};

use nix::dir::Dir;
use nix::fcntl::OFlag;
use nix::sys::stat::Mode;
use nix::unistd::geteuid;
use rusqlite::Connection;
use tempfile::NamedTempFile;

use crate::error::{Cause, StoreError};
use crate::sqlite::error::{failed, url};
use crate::sqlite::files::{denied, folder_of, lock, nothing_left_beside, sync_folder_of};
use crate::sqlite::schema::create_tables;

pub const MAKE: &str = "make the store";

/// What the name of a temporary file begins with.
const PREFIX: &str = ".plant-store-";

/// See [`crate::unfinished`].
pub fn unfinished(path: &Path) -> Vec<PathBuf> {
    let folder = folder_of(path);
    // `std::fs::read_dir` panics if the folder cannot be closed.
    let opened = Dir::open(folder, OFlag::O_RDONLY | OFlag::O_CLOEXEC, Mode::empty());
    let entries = opened.into_iter().flatten().flatten();
    let names = entries.map(|entry| OsStr::from_bytes(entry.file_name().to_bytes()).to_owned());
    let ours = names.filter(|name| name.as_bytes().starts_with(PREFIX.as_bytes()));
    ours.map(|name| folder.join(name)).collect()
}

/// Makes an empty store beside its path.
pub fn make(path: &Path) -> Result<NamedTempFile, StoreError> {
    // Looked at before the store itself: a server that starts at the same time may make the store,
    // and then its WAL, which must not be taken for one that was left behind.
    let left = nothing_left_beside(path);
    if path.symlink_metadata().is_ok() {
        return Err(StoreError::Exists(url(path)));
    }
    left?;
    make_in(folder_of(path)).map_err(failed(path, MAKE))
}

fn make_in(folder: &Path) -> Result<NamedTempFile, Cause> {
    if !folder.is_dir() {
        return Err(format!("there is no folder {}", folder.display()).into());
    }
    let file = tempfile::Builder::new().prefix(PREFIX).tempfile_in(folder);
    let file = file.map_err(|error| denied("write to the folder", folder, &error))?;
    if geteuid().is_root() {
        // The service that uses the folder must be able to use a store that root restores in it.
        // In a container root may not be allowed to; then the file stays root's.
        let owner = fs::metadata(folder)?;
        let _ = fchown(file.as_file(), Some(owner.uid()), Some(owner.gid()));
    }
    let connection = Connection::open(file.path())?;
    connection.pragma_update(None, "synchronous", "off")?;
    create_tables(&connection)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.close().map_err(|(_, error)| error)?;
    Ok(file)
}

/// Gives the store its name, and returns its file with the server's lock.
///
/// No connection is open on the file any more. Its descriptor was opened before the first write, so
/// it reports every write that failed.
pub fn publish(file: NamedTempFile, path: &Path) -> Result<File, StoreError> {
    file.as_file().sync_all().map_err(failed(path, MAKE))?;
    lock(file.as_file(), path)?;
    let file = file.persist_noclobber(path).map_err(|lost| match lost.error.kind() {
        ErrorKind::AlreadyExists => StoreError::Exists(url(path)),
        _ => failed(path, MAKE)(lost.error),
    })?;
    sync_folder_of(path).map_err(failed(path, MAKE))?;
    Ok(file)
}
