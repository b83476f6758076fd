//! A file that SQLite has open, and whether it is still in its place.
//!
//! An open file goes on taking commits after it was removed or renamed. So the path is compared with
//! the file that was there when the store was opened, by device and inode.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::store::error::CommitError;

pub struct OpenFile {
    path: PathBuf,
    /// Its device and its inode.
    id: (u64, u64),
}

impl OpenFile {
    /// The file that is there now.
    pub fn at(path: PathBuf) -> io::Result<Self> {
        let file = fs::metadata(&path)?;
        Ok(Self { path, id: (file.dev(), file.ino()) })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The device and the inode.
    pub fn id(&self) -> (u64, u64) {
        self.id
    }

    /// How long the file is, in bytes.
    pub fn length(&self) -> io::Result<u64> {
        Ok(fs::metadata(&self.path)?.len())
    }

    /// Fails if another file, or none, is in its place. Returns how long it is, in bytes.
    pub fn check(&self) -> Result<u64, CommitError> {
        let path = self.path.display();
        match fs::metadata(&self.path) {
            Ok(file) if (file.dev(), file.ino()) == self.id => Ok(file.len()),
            Ok(_) => Err(CommitError::Gone(format!("another file is at {path}").into())),
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                Err(CommitError::Gone(format!("{path} was removed or renamed").into()))
            }
            Err(error) => Err(CommitError::Fault(format!("{path}: {error}").into())),
        }
    }
}
