//! The files of a store: their names, and what a process may do with them.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf, absolute};

use nix::sys::statvfs::statvfs;
use nix::unistd::{AccessFlags, User, access, geteuid};

use crate::engine::Sizes;
use crate::error::StoreError;
use crate::sqlite::error::{failed, url};

pub const OPEN: &str = "open the store";

/// What follows the name of the store in the names of the files beside it.
const WAL: &str = "-wal";
const WAL_INDEX: &str = "-shm";
const ROLLBACK_JOURNAL: &str = "-journal";
pub const BESIDE: [&str; 3] = [WAL, WAL_INDEX, ROLLBACK_JOURNAL];

/// The folder in which a new store is made that is to be put in this place (`place.rs`).
const RESTORE: &str = "-restore";

/// A file with that suffix, beside the store's file itself, also if `path` is a link to it.
pub fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.canonicalize().unwrap_or_else(|_| path.to_owned()).into_os_string();
    name.push(suffix);
    name.into()
}

/// The WAL of a store.
pub fn wal_of(path: &Path) -> PathBuf {
    beside(path, WAL)
}

/// The index of the WAL, which all processes share that have the store open. Without it they do not
/// see each other's commits and locks
/// (<https://sqlite.org/walformat.html#the_wal_index_file_format>).
pub fn wal_index_of(path: &Path) -> PathBuf {
    beside(path, WAL_INDEX)
}

/// The folder of a new store for that place, and the file of the new store in it when it is whole.
pub fn restore_folder_of(path: &Path) -> PathBuf {
    beside(path, RESTORE)
}

/// See [`restore_folder_of`].
pub fn restored_file_in(folder: &Path) -> PathBuf {
    folder.join("new.db")
}

/// Whether a store is to be put in this place next: the old one was moved away already.
pub fn is_being_restored(path: &Path) -> bool {
    !path.exists() && restored_file_in(&restore_folder_of(path)).exists()
}

/// Whether there is no WAL, or an empty file in its place.
pub fn is_empty_wal(path: &Path) -> bool {
    !wal_of(path).metadata().is_ok_and(|wal| wal.len() > 0)
}

/// Removes the files beside a store that nobody will open.
pub fn remove_beside(path: &Path) {
    for suffix in BESIDE {
        let _ = fs::remove_file(beside(path, suffix));
    }
}

/// Fails if files of a store lie beside a path where there is none.
pub fn nothing_left_beside(path: &Path) -> Result<(), StoreError> {
    if is_being_restored(path) {
        return Err(StoreError::RestoreUnfinished(url(path)));
    }
    let files = BESIDE.iter().map(|suffix| beside(path, suffix)).filter(|file| file.exists());
    let names: Vec<_> = files.map(|file| file.display().to_string()).collect();
    if names.is_empty() {
        Ok(())
    } else {
        Err(StoreError::LeftBehind { url: url(path), files: names.join(", ") })
    }
}

/// The folder in which the path is.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes the name of a file durable.
pub fn sync_folder_of(path: &Path) -> io::Result<()> {
    File::open(folder_of(path))?.sync_all()
}

/// Opens the file of a store, before SQLite does.
pub fn open(path: &Path) -> Result<File, StoreError> {
    let file = match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(missing(path)),
        file => file.map_err(failed(path, OPEN))?,
    };
    if !file.is_file() {
        let cause = format!("{} is a folder or a device; name a file", path.display());
        return Err(failed(path, OPEN)(cause));
    }
    // SQLite's readers too write the WAL's index.
    for (right, place) in [("read and write", path), ("write to the folder", folder_of(path))] {
        let allowed = access(place, AccessFlags::R_OK | AccessFlags::W_OK);
        allowed.map_err(|errno| failed(path, OPEN)(denied(right, place, &errno.into())))?;
    }
    File::open(path).map_err(failed(path, OPEN))
}

fn missing(path: &Path) -> StoreError {
    if path.is_symlink() {
        return failed(path, OPEN)(format!(
            "{} is a link to a file that is not there",
            path.display()
        ));
    }
    nothing_left_beside(path).err().unwrap_or_else(|| StoreError::Missing(url(path)))
}

/// What the user of this process cannot do with the path, and why.
pub fn denied(right: &str, path: &Path, why: &io::Error) -> io::Error {
    let id = geteuid();
    let path = absolute(path).unwrap_or_else(|_| path.to_owned());
    let name = User::from_uid(id).ok().flatten().map_or(id.to_string(), |user| user.name);
    let said = format!("the user {name} cannot {right} {}: {why}", path.display());
    io::Error::new(why.kind(), said)
}

/// How large the files are, and what is free on their disk.
pub fn sizes(path: &Path) -> Sizes {
    let length = |path: &Path| fs::metadata(path).map(|file| file.len()).ok();
    let disk = statvfs(path).ok();
    let disk_free = disk.map(|disk| disk.blocks_available() * disk.fragment_size());
    Sizes { store: length(path), wal: length(&wal_of(path)), disk_free }
}

/// Takes the server's lock.
pub fn lock(file: &File, path: &Path) -> Result<(), StoreError> {
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => StoreError::ServedElsewhere(url(path)),
        TryLockError::Error(error) => failed(path, "lock the store")(error),
    })
}
