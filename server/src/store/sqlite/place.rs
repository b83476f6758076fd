//! Whether the files of an open store are still in their places.
//!
//! An open file goes on taking commits after it was removed or renamed. So once a second the paths
//! are compared with the files that were there when the store was opened, by device and inode. As
//! long as a connection is open, SQLite removes no WAL.

use std::fs::{self, File, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::sys::resource::{Resource, getrlimit};
use nix::sys::statvfs::statvfs;

use crate::store::engine::Sizes;
use crate::store::error::CommitError;
use crate::store::sqlite::file::wal_of;

/// What SQLite writes at a time at most: a page with its header in the WAL, in bytes.
const PAGE: u64 = 4096 + 24;

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
        let wal_id = id(&find(&wal)?);
        let file = file.metadata().map_err(|error| CommitError::Fault(error.into()))?;
        let place = Self { store: (path.to_owned(), id(&file)), wal: (wal, wal_id) };
        place.check().map(|()| place)
    }

    /// The path of the store.
    pub fn path(&self) -> &Path {
        &self.store.0
    }

    /// Fails if another file, or none, is in the place of the store or of its WAL.
    pub fn check(&self) -> Result<(), CommitError> {
        for (path, opened) in [&self.store, &self.wal] {
            if id(&find(path)?) != *opened {
                let cause = format!("another file is at {}", path.display());
                return Err(CommitError::Gone(cause.into()));
            }
        }
        Ok(())
    }

    /// How large the files are, and what is free on their disk.
    pub fn sizes(&self) -> Result<Sizes, CommitError> {
        let disk = statvfs(self.path()).map_err(|error| CommitError::Unavailable(error.into()))?;
        Ok(Sizes {
            store: Some(find(self.path())?.len()),
            wal: Some(find(&self.wal.0)?.len()),
            disk_free: Some(disk.blocks_available() as u64 * disk.fragment_size() as u64),
        })
    }

    /// Whether one of the files is as large as this process may make a file (getrlimit(2)).
    pub fn is_at_size_limit(&self) -> bool {
        let Ok((limit, _)) = getrlimit(Resource::RLIMIT_FSIZE) else { return false };
        let is_at_limit = |file: Metadata| file.len().saturating_add(PAGE) > limit;
        [&self.store.0, &self.wal.0].into_iter().flat_map(fs::metadata).any(is_at_limit)
    }
}

fn id(file: &Metadata) -> Id {
    (file.dev(), file.ino())
}

fn find(path: &Path) -> Result<Metadata, CommitError> {
    fs::metadata(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => {
            CommitError::Gone(format!("{} was removed or renamed", path.display()).into())
        }
        _ => CommitError::Fault(format!("{}: {error}", path.display()).into()),
    })
}
