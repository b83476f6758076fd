//! The check that the paths of a served store still name the files that were opened.
//!
//! An open file accepts commits even after it was removed or renamed, and nobody would find those
//! commits. So each path is compared, by device and inode, with the file that was there when the
//! store was opened: before and after each commit, and once a second. SQLite itself removes neither
//! the WAL nor its index while a connection is open.

use std::fs::{self, File, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::error::WriteError;
use crate::sqlite::files::{wal_index_of, wal_of};

/// The identity of a file, unique as long as the file is open (inode(7)).
#[derive(Clone, Copy, PartialEq, Eq)]
struct FileId {
    device: u64,
    inode: u64,
}

impl From<Metadata> for FileId {
    fn from(file: Metadata) -> Self {
        Self { device: file.dev(), inode: file.ino() }
    }
}

/// An open file, and the path at which it was opened.
struct OpenedFile {
    path: PathBuf,
    id: FileId,
}

impl OpenedFile {
    fn at(path: PathBuf) -> Result<Self, WriteError> {
        let id = file_id(&path)?;
        Ok(Self { path, id })
    }

    fn is_in_place(&self) -> Result<(), WriteError> {
        if file_id(&self.path)? == self.id {
            return Ok(());
        }
        Err(WriteError::Gone(format!("another file is at {} now", self.path.display()).into()))
    }
}

/// The store's file, its WAL and the WAL index.
pub struct OpenedFiles {
    store: OpenedFile,
    wal: OpenedFile,
    wal_index: OpenedFile,
}

impl OpenedFiles {
    /// Records the files of the store that SQLite has just opened at `path`. `file` was opened
    /// before.
    pub fn of(path: &Path, file: &File) -> Result<Self, WriteError> {
        let file = file.metadata().map_err(|error| WriteError::Fault(error.into()))?;
        let files = Self {
            store: OpenedFile { path: path.to_owned(), id: file.into() },
            wal: OpenedFile::at(wal_of(path))?,
            wal_index: OpenedFile::at(wal_index_of(path))?,
        };
        files.are_in_place()?;
        Ok(files)
    }

    /// Fails if a file was removed, renamed or replaced.
    pub fn are_in_place(&self) -> Result<(), WriteError> {
        self.store.is_in_place()?;
        self.wal.is_in_place()?;
        self.wal_index.is_in_place()
    }
}

/// Returns the identity of the file that is at `path` now.
fn file_id(path: &Path) -> Result<FileId, WriteError> {
    let file = fs::metadata(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => {
            WriteError::Gone(format!("{} was removed or renamed", path.display()).into())
        }
        _ => WriteError::Fault(format!("{}: {error}", path.display()).into()),
    })?;
    Ok(file.into())
}
