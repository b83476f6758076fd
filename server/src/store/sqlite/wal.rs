//! The write-ahead log, SQLite's WAL (<https://sqlite.org/fileformat2.html#the_write_ahead_log>):
//! whether it was cut, whether it has a mark, and how it is made durable after a crash.
//!
//! While a connection is open, SQLite trusts the WAL's index. If the WAL was cut, it writes behind
//! the end, and the next checkpoint would copy the hole into the store.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::Path;

use rusqlite::Connection;

use crate::store::error::{Cause, CommitError};
use crate::store::sqlite::checkpoint::Checkpoint;
use crate::store::sqlite::mark::Mark;
use crate::store::sqlite::open_file::OpenFile;

/// The header of the WAL, and of each page in it, in bytes.
const HEADER: usize = 32;
const PAGE_HEADER: usize = 24;

/// A header as it is in the file. It differs each time that the WAL starts over.
pub type Header = [u8; HEADER];

/// The WAL of an open store.
pub struct Wal {
    place: OpenFile,
    file: File,
    /// A page with its header, in bytes.
    page: u64,
}

impl Wal {
    /// The WAL that the connection has open.
    pub fn open(path: &Path, connection: &Connection) -> Result<Self, Cause> {
        let page_size: u32 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
        let page = PAGE_HEADER as u64 + u64::from(page_size);
        Ok(Self { place: OpenFile::at(path.to_owned())?, file: File::open(path)?, page })
    }

    /// How long the file is. Behind the WAL's end it may hold what is left of an earlier one.
    pub fn bytes(&self) -> io::Result<u64> {
        self.place.length()
    }

    /// Fails if the WAL is not in its place, or is shorter than its index says. Returns how many
    /// pages it has.
    pub fn check(&self, connection: &Connection) -> Result<u64, CommitError> {
        // Again, because another process may empty the WAL between the two looks.
        for _ in 0..3 {
            // -1 while another process writes the index.
            let pages = u64::try_from(Checkpoint::Noop.run(connection)?.pages).unwrap_or(0);
            if self.place.check()? >= self.length(pages) {
                return Ok(pages);
            }
        }
        Err(CommitError::Gone(format!("{} was cut", self.place.path().display()).into()))
    }

    /// The header; none if the WAL is empty.
    pub fn header(&self) -> Result<Option<Header>, CommitError> {
        self.read(0)
    }

    /// Marks the WAL, unless it has a mark.
    pub fn ensure_marked(&self, connection: &mut Connection) -> Result<(), CommitError> {
        // With the write lock, nobody else marks it meanwhile.
        let transaction = connection.transaction()?;
        if !self.has_page(Mark::page(&transaction)?)? {
            Mark::write(&transaction)?;
            transaction.commit()?;
        }
        Ok(())
    }

    /// Makes durable what the WAL holds, before anything is answered or written after it.
    ///
    /// A killed process may not have reached its fsync. After an fsync that failed, the kernel may
    /// have marked pages clean that are not on the disk (<https://lwn.net/Articles/752063/>), so
    /// another fsync alone proves nothing. Rewriting the bytes marks the pages dirty again, so the
    /// next fsync really writes them.
    ///
    /// Takes two connections, because SQLite does not tell the length of the WAL inside a
    /// transaction.
    pub fn renew(&self, connection: &mut Connection, other: &Connection) -> Result<(), Cause> {
        // With the write lock, no other process appends to the WAL or starts it over.
        let _lock = connection.transaction()?;
        let end = self.length(Checkpoint::Noop.run(other)?.pages.try_into()?);
        let path = self.place.path();
        let file = File::options().read(true).write(true).open(path)?;
        let mut piece = vec![0; 1024 * 1024];
        let mut offset = 0;
        while offset < end {
            let length = piece.len().min(usize::try_from(end - offset)?);
            let read = file.read_at(&mut piece[..length], offset)?;
            if read == 0 {
                break;
            }
            file.write_all_at(&piece[..read], offset)?;
            offset += read as u64;
        }
        file.sync_all()?;
        // The names of the store and of its WAL are durable once their folder is synced. SQLite
        // ignores a failure of that fsync.
        Ok(File::open(path.parent().unwrap_or(path))?.sync_all()?)
    }

    /// The length of the WAL with so many pages. Without any, the file may be empty.
    fn length(&self, pages: u64) -> u64 {
        if pages == 0 { 0 } else { HEADER as u64 + pages * self.page }
    }

    /// Whether it has that page of the store. Each page in the WAL begins with its number in the
    /// store, and with the salts of the WAL's header.
    fn has_page(&self, number: u32) -> Result<bool, CommitError> {
        let Some(header) = self.header()? else { return Ok(false) };
        let mut at = HEADER as u64;
        while let Some(page) = self.read::<PAGE_HEADER>(at)?
            && page[8..16] == header[16..24]
        {
            if page[..4] == number.to_be_bytes() {
                return Ok(true);
            }
            at += self.page;
        }
        Ok(false)
    }

    /// None if the file ends before.
    fn read<const LENGTH: usize>(&self, at: u64) -> Result<Option<[u8; LENGTH]>, CommitError> {
        let mut bytes = [0; LENGTH];
        match self.file.read_exact_at(&mut bytes, at) {
            Ok(()) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(CommitError::Fault(error.into())),
        }
    }
}

#[cfg(test)]
mod tests;
