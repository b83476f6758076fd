//! The files that belong to a store: their names, and what a process may do with them.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf, absolute};

use nix::errno::Errno;
use nix::unistd::{AccessFlags, User, access, geteuid};

use crate::store::error::StoreError;
use crate::store::sqlite::error::{failed, url};

const OPEN: &str = "open the store";

/// The suffixes of the files beside a store: the WAL, its index, a rollback journal.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// A file with that suffix, beside the store's file itself, also if `path` is a link to it.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.canonicalize().unwrap_or_else(|_| path.to_owned()).into_os_string();
    name.push(suffix);
    name.into()
}

/// The WAL of a store.
pub fn wal_of(path: &Path) -> PathBuf {
    beside(path, BESIDE[0])
}

/// Whether there is no WAL, or an empty file in its place.
pub fn is_empty_wal(path: &Path) -> bool {
    !wal_of(path).metadata().is_ok_and(|wal| wal.len() > 0)
}

/// The files that lie beside the place of a store, of those that belong to one; none if there are
/// none.
pub fn left_beside(path: &Path) -> Option<String> {
    let files = BESIDE.iter().map(|suffix| beside(path, suffix)).filter(|file| file.exists());
    let names: Vec<_> = files.map(|file| file.display().to_string()).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// The folder in which the path is.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Makes the name of a file durable.
pub fn sync_folder_of(path: &Path) -> io::Result<()> {
    File::open(folder_of(path))?.sync_all()
}

/// Opens the file of a store, before SQLite does.
pub fn open(path: &Path) -> Result<File, StoreError> {
    let metadata = match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(missing(path)),
        metadata => metadata.map_err(failed(OPEN))?,
    };
    if metadata.is_dir() {
        return Err(failed(OPEN)(format!("{} is a folder; name a file in it", path.display())));
    }
    if !metadata.is_file() {
        return Err(failed(OPEN)(format!("{} is not a regular file", path.display())));
    }
    // A store has none, and SQLite would roll a foreign one back into it.
    let journal = beside(path, BESIDE[2]);
    if journal.exists() {
        let file = journal.display().to_string();
        return Err(StoreError::ForeignFile { url: url(path), file });
    }
    check_access(path).map_err(failed(OPEN))?;
    File::open(path).map_err(failed(OPEN))
}

/// Takes the server's lock.
pub fn lock(file: &File, path: &Path) -> Result<(), StoreError> {
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => StoreError::Served(url(path)),
        TryLockError::Error(error) => failed("lock the store")(error),
    })
}

fn missing(path: &Path) -> StoreError {
    if path.is_symlink() {
        return failed(OPEN)(format!("{} is a link to a file that is not there", path.display()));
    }
    match left_beside(path) {
        None => StoreError::Missing(url(path)),
        Some(files) => StoreError::LeftBehind { url: url(path), files },
    }
}

/// SQLite's readers too write the WAL's index.
fn check_access(path: &Path) -> io::Result<()> {
    for (right, path) in [("read and write", path), ("write to the folder", folder_of(path))] {
        match access(path, AccessFlags::R_OK | AccessFlags::W_OK) {
            Ok(()) => {}
            Err(Errno::EROFS) => {
                let path = absolute(path).unwrap_or_else(|_| path.to_owned());
                let said = format!("{} is on a file system that is read-only", path.display());
                return Err(io::Error::new(ErrorKind::ReadOnlyFilesystem, said));
            }
            Err(_) => return Err(io::Error::new(ErrorKind::PermissionDenied, denied(right, path))),
        }
    }
    Ok(())
}

/// The right to the path that the user of this process lacks.
pub fn denied(right: &str, path: &Path) -> String {
    let (id, path) = (geteuid(), absolute(path).unwrap_or_else(|_| path.to_owned()));
    let name = User::from_uid(id).ok().flatten().map_or(id.to_string(), |user| user.name);
    format!("permission to {right} {} is denied to the user {name}", path.display())
}
