//! The files of an open store, and whether they are still in their places.

use std::fs;
use std::io;
use std::path::Path;

use nix::sys::resource::{Resource, getrlimit};
use nix::sys::statvfs::statvfs;
use rusqlite::Connection;

use crate::store::engine::Sizes;
use crate::store::error::{Cause, CommitError};
use crate::store::sqlite::names::{index_of, wal_of};
use crate::store::sqlite::open_file::OpenFile;
use crate::store::sqlite::wal::Wal;

/// What SQLite writes at a time at most: a page with its header in the WAL, in bytes.
const PAGE: u64 = 4096 + 24;

/// The files of an open store.
pub struct StoreFiles {
    store: OpenFile,
    index: OpenFile,
    pub wal: Wal,
}

impl StoreFiles {
    /// The files that are at the path now; the connection has just opened them.
    pub fn of(path: &Path, connection: &Connection) -> Result<Self, Cause> {
        Ok(Self {
            store: OpenFile::at(path.to_owned())?,
            index: OpenFile::at(index_of(path))?,
            wal: Wal::open(&wal_of(path), connection)?,
        })
    }

    /// The store's own file.
    pub fn store(&self) -> &OpenFile {
        &self.store
    }

    /// Fails if the store or its WAL is not in its place, or was cut; before and after each commit.
    /// Returns how many pages the WAL has.
    pub fn check(&self, connection: &Connection) -> Result<u64, CommitError> {
        if self.store.check()? == 0 {
            let path = self.store.path().display();
            return Err(CommitError::Gone(format!("{path} was emptied").into()));
        }
        self.wal.check(connection)
    }

    /// As [`Self::check`], and the WAL's index: another process would use a new one, and write to
    /// the WAL without regard to this one.
    pub fn check_all(&self, connection: &Connection) -> Result<(), CommitError> {
        self.check(connection)?;
        self.index.check().map(drop)
    }

    /// Whether one of the files is as large as this process may make a file (getrlimit(2)).
    pub fn is_at_size_limit(&self) -> bool {
        let Ok((limit, _)) = getrlimit(Resource::RLIMIT_FSIZE) else { return false };
        let is_at_limit = |bytes: u64| bytes.saturating_add(PAGE) > limit;
        [self.store.length(), self.wal.bytes()].into_iter().flatten().any(is_at_limit)
    }
}

/// How large the files of a store are, and what is free on their disk.
pub fn sizes(path: &Path) -> io::Result<Sizes> {
    let disk = statvfs(path)?;
    Ok(Sizes {
        store: Some(fs::metadata(path)?.len()),
        wal: Some(fs::metadata(wal_of(path)).map_or(0, |wal| wal.len())),
        disk_free: Some(disk.blocks_available() as u64 * disk.fragment_size() as u64),
    })
}
