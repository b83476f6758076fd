//! Whether the files of a store that is served are still those that its paths name.
//!
//! An open file goes on taking commits after it was removed or renamed, and nobody would find them.
//! So once a second the paths are compared with the files that were there when the store was
//! opened, by device and inode. As long as a connection is open, SQLite removes neither the WAL nor
//! its index.

use std::fs::{self, File, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::error::WriteError;
use crate::sqlite::files::{wal_index_of, wal_of};

/// What tells one file from all others, as long as it is open (inode(7)).
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

/// A file that is open, and the path at which it was opened.
struct OpenedFile {
    path: PathBuf,
    id: FileId,
}

impl OpenedFile {
    fn at(path: PathBuf) -> Result<Self, WriteError> {
        let id = find(&path)?;
        Ok(Self { path, id })
    }

    fn is_in_place(&self) -> Result<(), WriteError> {
        if find(&self.path)? == self.id {
            return Ok(());
        }
        Err(WriteError::Gone(format!("another file is at {}", self.path.display()).into()))
    }
}

/// The three files.
pub struct OpenedFiles {
    store: OpenedFile,
    wal: OpenedFile,
    wal_index: OpenedFile,
}

impl OpenedFiles {
    /// The files of the store that SQLite has just opened at that path. `file` was opened before.
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

    /// Fails if another file, or none, is in the place of one of them.
    pub fn are_in_place(&self) -> Result<(), WriteError> {
        self.store.is_in_place()?;
        self.wal.is_in_place()?;
        self.wal_index.is_in_place()
    }
}

/// Which file is there now.
fn find(path: &Path) -> Result<FileId, WriteError> {
    let file = fs::metadata(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => {
            WriteError::Gone(format!("{} was removed or renamed", path.display()).into())
        }
        _ => WriteError::Fault(format!("{}: {error}", path.display()).into()),
    })?;
    Ok(file.into())
}
