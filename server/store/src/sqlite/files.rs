//! The files of a store: their names, opening and creating the store's file, and the server's lock
//! on it.
//!
//! Nothing may move or rename a file of a store that may be served, or create one under another
//! name: only SQLite's transactions make a change atomic. A WAL that was removed is the exception:
//! `served_files.rs` writes it back.

use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::{Path, PathBuf, absolute};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::statvfs::statvfs;
use nix::unistd::{AccessFlags, User, access, geteuid};
use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, statx};
use tempfile::NamedTempFile;

use crate::engine::Sizes;
use crate::error::{At, Error, Kind};
use crate::sqlite::url;

pub const OPEN: &str = "open the store";
pub const CREATE: &str = "create the store";

/// The suffixes of the files beside the store's file.
const WAL: &str = "-wal";
const WAL_INDEX: &str = "-shm";
const ROLLBACK_JOURNAL: &str = "-journal";
const SUFFIXES: [&str; 3] = [WAL, WAL_INDEX, ROLLBACK_JOURNAL];

/// How long a start waits for the server's lock. A command that checks whether a server is running
/// holds the lock for an instant.
const LOCK_TIMEOUT: Duration = Duration::from_millis(500);

/// The pause between two attempts to take the lock.
const LOCK_PAUSE: Duration = Duration::from_millis(5);

/// Returns the path of a file beside the store's file. A symbolic link is followed first.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.canonicalize().unwrap_or_else(|_| path.to_owned()).into_os_string();
    name.push(suffix);
    name.into()
}

/// Returns the path of a store's WAL.
pub fn wal_of(path: &Path) -> PathBuf {
    beside(path, WAL)
}

/// Returns the path of the WAL index. All processes that have the store open share it; without it
/// they do not see each other's commits and locks
/// (<https://sqlite.org/walformat.html#the_wal_index_file_format>).
pub fn wal_index_of(path: &Path) -> PathBuf {
    beside(path, WAL_INDEX)
}

/// Returns the files beside a store, including a link to a missing file.
fn files_beside(path: &Path) -> Vec<PathBuf> {
    let files = SUFFIXES.iter().map(|suffix| beside(path, suffix));
    files.filter(|file| file.symlink_metadata().is_ok()).collect()
}

/// Returns the folder that contains the path.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Syncs the folder of a file, which makes the file's name durable.
pub fn sync_folder_of(path: &Path) -> io::Result<()> {
    File::open(folder_of(path))?.sync_all()
}

/// Opens the file of a store before SQLite does, and checks that this process may write to it.
///
/// # Errors
///
/// [`Kind::Missing`] if there is nothing at the path, and no file of a store beside it.
pub fn open(path: &Path) -> Result<File, Error> {
    // Look for files without a store first: a server that is starting at the same time may create
    // the store and then a WAL, which would look as if it had been left behind.
    let left = files_beside(path);
    let metadata = match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(missing(path, &left)),
        metadata => metadata.at(url(path), OPEN)?,
    };
    if !metadata.is_file() {
        let cause = format!("{} is a folder or a device; name a file", path.display());
        return Err(Error::new(Kind::Other, cause).at(url(path), OPEN));
    }
    require_one_name(path, &metadata)?;
    require_write_access(path).at(url(path), OPEN)?;
    File::open(path).at(url(path), OPEN)
}

/// Fails if this process may not write to the file and its folder. Even SQLite's readers write to
/// the WAL index, which SQLite creates in the folder.
fn require_write_access(path: &Path) -> io::Result<()> {
    let wal = wal_of(path);
    for (right, place) in [("read and write", path), ("write to the folder", folder_of(&wal))] {
        access(place, AccessFlags::R_OK | AccessFlags::W_OK).map_err(|errno| {
            let denied = denied(right, place, &errno.into());
            let advice = "SQLite needs both, even to read a store: run this as a user who may \
                write there, or copy the file and its -wal file to another folder while no server \
                uses them";
            io::Error::new(denied.kind(), format!("{denied}. {advice}"))
        })?;
    }
    Ok(())
}

/// Fails unless a new store can be put at the path: there is nothing at the path, not even a link
/// to a missing file, and no file of a store beside it, which a new store would adopt.
pub fn require_free(path: &Path) -> Result<(), Error> {
    require_folder(path)?;
    if path.symlink_metadata().is_ok() {
        let message = format!("something already exists at {}; it was left unchanged", url(path));
        return Err(Error::new(Kind::Other, message));
    }
    match files_beside(path) {
        left if left.is_empty() => Ok(()),
        left => Err(left_behind(path, &left)),
    }
}

fn require_folder(path: &Path) -> Result<(), Error> {
    let folder = folder_of(path);
    if folder.is_dir() {
        return Ok(());
    }
    let cause = format!("there is no folder {}; is its disk mounted?", folder.display());
    Err(Error::new(Kind::Other, cause).at(url(path), CREATE))
}

/// Creates a temporary file for a copy that will be put at `path`. Only its owner can read it. It
/// is in the same folder, so that it can be renamed, and it is removed when it is dropped.
pub fn create_temporary(path: &Path) -> Result<NamedTempFile, Error> {
    let mut prefix = path.file_name().unwrap_or_default().to_owned();
    prefix.push(".unfinished-copy-");
    let folder = folder_of(path);
    let file = tempfile::Builder::new().prefix(&prefix).tempfile_in(folder);
    let file = file
        .map_err(|error| denied("write to the folder", folder, &error))
        .at(url(path), CREATE)?;
    give_to_owner_of_folder(file.as_file(), path).at(url(path), CREATE)?;
    Ok(file)
}

/// Opens the file of a store, or creates an empty file that only its owner can read. Returns
/// whether it was created.
pub fn open_or_create(path: &Path) -> Result<(File, bool), Error> {
    match open(path) {
        Err(error) if error.kind == Kind::Missing => create(path),
        opened => Ok((opened?, false)),
    }
}

fn create(path: &Path) -> Result<(File, bool), Error> {
    let folder = folder_of(path);
    require_folder(path)?;
    let new = File::options().read(true).write(true).create_new(true).mode(0o600).open(path);
    let file = match new {
        // Another process has just created the file.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok((open(path)?, false)),
        new => new
            .map_err(|error| denied("write to the folder", folder, &error))
            .at(url(path), CREATE)?,
    };
    give_to_owner_of_folder(&file, path).at(url(path), CREATE)?;
    sync_folder_of(path).at(url(path), CREATE)?;
    Ok((file, true))
}

/// If this process runs as root, makes the owner of the folder the owner of a new file: the service
/// that owns the folder must be able to use the store. In a container root may not be allowed to
/// change the owner; then the file stays root's.
fn give_to_owner_of_folder(file: &File, path: &Path) -> io::Result<()> {
    if geteuid().is_root() {
        let owner = fs::metadata(folder_of(path))?;
        let _ = fchown(file, Some(owner.uid()), Some(owner.gid()));
    }
    Ok(())
}

fn missing(path: &Path, left: &[PathBuf]) -> Error {
    if path.is_symlink() {
        let cause = format!("{} is a symbolic link to a missing file", path.display());
        return Error::new(Kind::Other, cause).at(url(path), OPEN);
    }
    if left.is_empty() { Error::missing(url(path).absolute()) } else { left_behind(path, left) }
}

fn left_behind(path: &Path, left: &[PathBuf]) -> Error {
    let names: Vec<_> = left.iter().map(|file| file.display().to_string()).collect();
    let message = format!(
        "there is no store at {}, but there are files of a store: {}. \
         Put the store back beside them, or move them away",
        url(path),
        names.join(", ")
    );
    Error::new(Kind::Other, message)
}

/// Fails if another process could open the file by another name. That process would use another
/// WAL, and neither process would see the other's commits
/// (<https://sqlite.org/howtocorrupt.html#_multiple_links_to_the_same_file>).
fn require_one_name(path: &Path, metadata: &Metadata) -> Result<(), Error> {
    let statx = statx(CWD, path, AtFlags::empty(), StatxFlags::empty());
    // Kernels before 5.8 do not report this attribute.
    let is_mounted =
        statx.is_ok_and(|file| file.stx_attributes.contains(StatxAttributes::MOUNT_ROOT));
    let (why, advice) = if is_mounted {
        ("is mounted by itself", "Mount the folder that contains the file")
    } else if metadata.nlink() > 1 {
        ("has a second name, a hard link", "Stop the server, and remove all names but one")
    } else {
        return Ok(());
    };
    let message = format!(
        "the file of {} {why}: SQLite keeps a WAL for each name of a file, and two WALs corrupt \
         the store. {advice}",
        url(path)
    );
    Err(Error::new(Kind::Other, message))
}

/// Returns an error that says what the user of this process may not do with the path.
fn denied(right: &str, path: &Path, why: &io::Error) -> io::Error {
    let id = geteuid();
    let path = absolute(path).unwrap_or_else(|_| path.to_owned());
    let name = User::from_uid(id).ok().flatten().map_or(id.to_string(), |user| user.name);
    let cause = format!("the user {name} cannot {right} {}: {why}", path.display());
    io::Error::new(why.kind(), cause)
}

/// Returns the sizes of the files and the free space on their disk.
pub fn sizes(path: &Path) -> Sizes {
    let length = |path: &Path| fs::metadata(path).map(|file| file.len()).ok();
    let disk = statvfs(path).ok();
    let disk_free = disk.map(|disk| disk.blocks_available() * disk.fragment_size());
    Sizes { store: length(path), wal: length(&wal_of(path)), disk_free }
}

/// Takes the server's lock (flock(2)), which lasts until the file is closed.
pub fn lock(file: &File, path: &Path) -> Result<(), Error> {
    let began = Instant::now();
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if began.elapsed() < LOCK_TIMEOUT => {
                thread::sleep(LOCK_PAUSE);
            }
            Err(TryLockError::WouldBlock) => {
                let message = format!(
                    "{} is in use by another process, such as a server: stop that process, or \
                     choose another store",
                    url(path)
                );
                return Err(Error::new(Kind::Other, message));
            }
            Err(TryLockError::Error(error)) => return Err(error).at(url(path), "lock the store"),
            Ok(()) => return Ok(()),
        }
    }
}

/// Fails if a server is running on the file but its WAL index is missing. A command would create a
/// second index, and the server would not see the command's commits.
pub fn require_index_of_server(file: &File, path: &Path) -> Result<(), Error> {
    if wal_index_of(path).exists() {
        return Ok(());
    }
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => {
            let message = format!(
                "a server is using {}, but the store's -shm file is missing. If the server is just \
                 starting, try again in a moment. Otherwise somebody has removed the file: stop \
                 the server, and start it again",
                url(path)
            );
            Err(Error::new(Kind::Other, message))
        }
        Err(TryLockError::Error(error)) => Err(error).at(url(path), "lock the store"),
        Ok(()) => file.unlock().at(url(path), "unlock the store"),
    }
}
