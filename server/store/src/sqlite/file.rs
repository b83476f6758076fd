//! The files of a store: their names, what a process may do with them, whether they are still in
//! their places, and how a new one is made.
//!
//! An open file goes on taking commits after it was removed or renamed. So once a second the paths
//! are compared with the files that were there when the store was opened, by device and inode. As
//! long as a connection is open, SQLite removes no WAL.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::{Path, PathBuf, absolute};

use nix::sys::statvfs::statvfs;
use nix::unistd::{AccessFlags, User, access, geteuid};
use rusqlite::Connection;
use tempfile::NamedTempFile;

use crate::engine::Sizes;
use crate::error::{Cause, CommitError, StoreError};
use crate::sqlite::error::{failed, url};
use crate::sqlite::header::Header;
use crate::sqlite::tables::TABLES;

pub const OPEN: &str = "open the store";
pub const CREATE: &str = "create the store";

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

/// Removes the files beside a store that nobody will open.
pub fn remove_beside(path: &Path) {
    for suffix in BESIDE {
        let _ = fs::remove_file(beside(path, suffix));
    }
}

/// Fails if files of a store lie beside a place where there is none.
fn nothing_left_beside(path: &Path) -> Result<(), StoreError> {
    let files = BESIDE.iter().map(|suffix| beside(path, suffix)).filter(|file| file.exists());
    let names: Vec<_> = files.map(|file| file.display().to_string()).collect();
    match names.is_empty() {
        true => Ok(()),
        false => Err(StoreError::LeftBehind { url: url(path), files: names.join(", ") }),
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
        file => file.map_err(failed(OPEN))?,
    };
    if !file.is_file() {
        let cause = format!("{} is a folder or a device; name a file", path.display());
        return Err(failed(OPEN)(cause));
    }
    // A store has none, and SQLite would roll a foreign one back into it.
    let journal = beside(path, BESIDE[2]);
    if journal.exists() {
        let file = journal.display().to_string();
        return Err(StoreError::ForeignFile { url: url(path), file });
    }
    // SQLite's readers too write the WAL's index.
    for (right, path) in [("read and write", path), ("write to the folder", folder_of(path))] {
        let allowed = access(path, AccessFlags::R_OK | AccessFlags::W_OK);
        allowed.map_err(|errno| failed(OPEN)(denied(right, path, &errno.into())))?;
    }
    File::open(path).map_err(failed(OPEN))
}

fn missing(path: &Path) -> StoreError {
    if path.is_symlink() {
        return failed(OPEN)(format!("{} is a link to a file that is not there", path.display()));
    }
    nothing_left_beside(path).err().unwrap_or_else(|| StoreError::Missing(url(path)))
}

/// What the user of this process cannot do with the path, and why.
fn denied(right: &str, path: &Path, why: &io::Error) -> io::Error {
    let (id, path) = (geteuid(), absolute(path).unwrap_or_else(|_| path.to_owned()));
    let name = User::from_uid(id).ok().flatten().map_or(id.to_string(), |user| user.name);
    let said = format!("the user {name} cannot {right} {}: {why}", path.display());
    io::Error::new(why.kind(), said)
}

/// Takes the server's lock.
pub fn lock(file: &File, path: &Path) -> Result<(), StoreError> {
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => StoreError::Served(url(path)),
        TryLockError::Error(error) => failed("lock the store")(error),
    })
}

/// A device and an inode.
type Id = (u64, u64);

/// The paths of an open store and of its WAL, and the files that were there.
pub struct Place {
    store: (PathBuf, Id),
    wal: (PathBuf, Id),
}

impl Place {
    /// The place of the store that SQLite has just opened at that path. The file was opened before.
    pub fn of(path: &Path, file: &File) -> Result<Self, CommitError> {
        let wal = wal_of(path);
        let wal_id = find(&wal)?.0;
        let file = file.metadata().map_err(|error| CommitError::Fault(error.into()))?;
        let id = (file.dev(), file.ino());
        let place = Self { store: (path.to_owned(), id), wal: (wal, wal_id) };
        place.sizes().map(|_| place)
    }

    /// The path of the store.
    pub fn path(&self) -> &Path {
        &self.store.0
    }

    /// How large the files are, and what is free on their disk. Fails if another file, or none, is
    /// in the place of the store or of its WAL.
    pub fn sizes(&self) -> Result<Sizes, CommitError> {
        let size = |(path, opened): &(PathBuf, Id)| {
            let (id, length) = find(path)?;
            if id != *opened {
                let cause = format!("another file is at {}", path.display());
                return Err(CommitError::Gone(cause.into()));
            }
            Ok(Some(length))
        };
        let (store, wal) = (size(&self.store)?, size(&self.wal)?);
        let disk = statvfs(self.path()).map_err(|error| CommitError::Unavailable(error.into()))?;
        let disk_free = disk.blocks_available() as u64 * disk.fragment_size() as u64;
        Ok(Sizes { store, wal, disk_free: Some(disk_free) })
    }
}

/// Which file is there now, and its length.
fn find(path: &Path) -> Result<(Id, u64), CommitError> {
    let file = fs::metadata(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => {
            CommitError::Gone(format!("{} was removed or renamed", path.display()).into())
        }
        _ => CommitError::Fault(format!("{}: {error}", path.display()).into()),
    })?;
    Ok(((file.dev(), file.ino()), file.len()))
}

/// What the name of a temporary file begins with.
const PREFIX: &str = ".plant-store-";

/// See [`crate::unfinished`].
pub fn unfinished(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder_of(path)).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path());
    let is_one = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(PREFIX) && !name.ends_with("-wal") && !name.ends_with("-shm")
    };
    files.filter(is_one).collect()
}

/// Makes an empty store beside its place.
pub fn make(path: &Path) -> Result<NamedTempFile, StoreError> {
    // A server that starts at the same time may have made the store, and then its WAL.
    let left = nothing_left_beside(path);
    if path.symlink_metadata().is_ok() {
        return Err(StoreError::Exists(url(path)));
    }
    left?;
    make_in(folder_of(path)).map_err(failed(CREATE))
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
    connection.execute_batch(TABLES)?;
    Header::random().write(&connection)?;
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
    let file = file.persist_noclobber(path).map_err(|lost| match lost.error.kind() {
        ErrorKind::AlreadyExists => StoreError::Exists(url(path)),
        _ => failed(CREATE)(lost.error),
    })?;
    sync_folder_of(path).map_err(failed(CREATE))?;
    Ok(file)
}
