//! Where the store's files are, and whether they still are the ones that are open.
//!
//! An open file goes on taking commits after it was removed or renamed. So the path is compared
//! with the file that was there when the store was opened, by device and inode.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::sys::resource::{Resource, getrlimit};
use nix::sys::statvfs::statvfs;

use crate::store::engine::{CommitError, Sizes};

/// A page with its header in the log, in bytes.
const PAGE: u64 = 4096 + 24;

/// The suffixes of the files beside a store: the write-ahead log, its index, a rollback journal.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// A file with that suffix, beside the store's file itself, also where `path` is a link to it.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.canonicalize().unwrap_or_else(|_| path.to_owned()).into_os_string();
    name.push(suffix);
    name.into()
}

/// The write-ahead log of a store.
pub fn log_of(path: &Path) -> PathBuf {
    beside(path, BESIDE[0])
}

/// The rollback journal that would belong to a database there.
pub fn journal_of(path: &Path) -> PathBuf {
    beside(path, BESIDE[2])
}

/// The files that lie beside the place of a store, of those that belong to one.
pub fn left_beside(path: &Path) -> Vec<PathBuf> {
    BESIDE.iter().map(|suffix| beside(path, suffix)).filter(|file| file.exists()).collect()
}

/// The files of an open store.
pub struct Place {
    store: OpenFile,
    log: OpenFile,
    index: OpenFile,
}

struct OpenFile {
    path: PathBuf,
    /// Its device and its inode.
    id: (u64, u64),
}

impl Place {
    /// The files that are at the path now; SQLite has just opened them.
    pub fn of(path: &Path) -> io::Result<Self> {
        Ok(Self {
            store: OpenFile::at(path.to_owned())?,
            log: OpenFile::at(beside(path, BESIDE[0]))?,
            index: OpenFile::at(beside(path, BESIDE[1]))?,
        })
    }

    /// Fails where the store or its log is not in its place; for every commit. Returns how long
    /// the log is.
    pub fn check(&self) -> Result<u64, CommitError> {
        if self.store.check()? == 0 {
            return Err(CommitError::Gone(
                format!("{} was emptied", self.store.path.display()).into(),
            ));
        }
        self.log.check()
    }

    /// As [`Self::check`], and the log's index: another process would use a new one, and write to
    /// the log without regard to this one.
    pub fn check_all(&self) -> Result<(), CommitError> {
        self.check()?;
        self.index.check().map(drop)
    }

    /// Whether one of the files is as large as this process may make a file (getrlimit(2)).
    pub fn is_at_size_limit(&self) -> bool {
        let Ok((limit, _)) = getrlimit(Resource::RLIMIT_FSIZE) else { return false };
        let is_at_limit = |bytes: u64| bytes.saturating_add(PAGE) > limit;
        [&self.store, &self.log].iter().any(|file| file.length().is_ok_and(is_at_limit))
    }

    /// How large the files are.
    pub fn sizes(&self) -> io::Result<Sizes> {
        let (store, log) = (self.store.length()?, self.log.length()?);
        Ok(Sizes { store: Some(store), log: Some(log) })
    }

    /// How many bytes are free for this process on the disk.
    pub fn free(&self) -> io::Result<u64> {
        let disk = statvfs(&self.store.path)?;
        Ok(disk.blocks_available() as u64 * disk.fragment_size() as u64)
    }

    /// How large the log is.
    pub fn log_length(&self) -> io::Result<u64> {
        self.log.length()
    }

    /// The device and the inode of the store's file.
    pub fn id(&self) -> (u64, u64) {
        self.store.id
    }

    /// The store's file.
    pub fn store(&self) -> &Path {
        &self.store.path
    }

    /// The write-ahead log.
    pub fn log(&self) -> &Path {
        &self.log.path
    }
}

impl OpenFile {
    fn length(&self) -> io::Result<u64> {
        Ok(fs::metadata(&self.path)?.len())
    }

    fn at(path: PathBuf) -> io::Result<Self> {
        let file = fs::metadata(&path)?;
        Ok(Self { path, id: (file.dev(), file.ino()) })
    }

    /// Returns how long the file is.
    fn check(&self) -> Result<u64, CommitError> {
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
