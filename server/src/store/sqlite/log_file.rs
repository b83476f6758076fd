//! The bytes of the write-ahead log (<https://sqlite.org/fileformat2.html#the_write_ahead_log>):
//! which log it is, whether it has a mark, and whether another program has cut it.
//!
//! While a connection is open, SQLite trusts the log's index. Where the file was cut, it writes
//! behind the end, and the next checkpoint would copy the hole into the store.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, PoisonError};

use rusqlite::Connection;

use crate::store::engine::CommitError;
use crate::store::sqlite::log::Checkpoint;
use crate::store::sqlite::mark::Mark;
use crate::store::sqlite::place::{FRAME_HEADER, HEADER, Place};

/// The first number of the header, without its last bit: that one is the byte order of the
/// checksums.
const MAGIC: u32 = 0x377f_0682;

/// The log of an open store.
pub struct LogFile {
    file: File,
    seen: Mutex<Option<Seen>>,
}

/// What the log had at the last look.
struct Seen {
    header: Header,
    /// The number of the last page. The first one is 1.
    last: u64,
}

/// What is needed of the log's header.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Header {
    page_size: u32,
    /// These change each time that the log starts over. Each page has them too.
    salts: [u32; 2],
}

impl LogFile {
    /// Opens the log in that place.
    pub fn open(place: &Place) -> io::Result<Self> {
        Ok(Self { file: File::open(place.log())?, seen: Mutex::default() })
    }

    /// Fails where the store or its log is not in its place, or where the log lacks what it had at
    /// the last look: it was cut, also if something was written behind the cut since.
    pub fn check(&self, connection: &Connection, place: &Place) -> Result<(), CommitError> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        // Again: what is read one after the other may be of two logs, where it starts over meanwhile.
        for _ in 0..3 {
            let header = self.header()?;
            if let Some(seen) = seen.as_ref().filter(|seen| header == Some(seen.header))
                && self.page(seen.header, seen.last)?.is_none()
            {
                continue;
            }
            let last = u64::try_from(Checkpoint::Noop.run(connection)?.pages).unwrap_or(0);
            if last <= place.check()? && (header.is_some() || last == 0) {
                *seen = header.filter(|_| last > 0).map(|header| Seen { header, last });
                return Ok(());
            }
        }
        place.check()?;
        let cause = format!("{} was cut by another program", place.log().display());
        Err(CommitError::Gone(cause.into()))
    }

    /// Marks the log, unless it has a mark.
    pub fn ensure_marked(&self, connection: &mut Connection) -> Result<(), CommitError> {
        // With the write lock, nobody else marks it meanwhile.
        let transaction = connection.transaction()?;
        if !self.is_marked(Mark::page(&transaction)?)? {
            Mark::write(&transaction)?;
            transaction.commit()?;
        }
        Ok(())
    }

    /// The header; none, where the log is empty.
    pub fn header(&self) -> Result<Option<Header>, CommitError> {
        let numbers = self.numbers(0)?;
        Ok(numbers.and_then(|[magic, _, page_size, _, first, second]| {
            (magic & !1 == MAGIC).then_some(Header { page_size, salts: [first, second] })
        }))
    }

    /// Whether it has that page of the store.
    fn is_marked(&self, mark: u32) -> Result<bool, CommitError> {
        let Some(header) = self.header()? else { return Ok(false) };
        let mut number = 1;
        while let Some(page) = self.page(header, number)? {
            if page == mark {
                return Ok(true);
            }
            number += 1;
        }
        Ok(false)
    }

    /// Which page of the store the page with that number is; none, where it is behind the log's end.
    /// What lies there has other salts.
    fn page(&self, header: Header, number: u64) -> Result<Option<u32>, CommitError> {
        let offset = HEADER + (number - 1) * (FRAME_HEADER + u64::from(header.page_size));
        let found = self.numbers(offset)?;
        Ok(found
            .and_then(|[page, _, first, second]| ([first, second] == header.salts).then_some(page)))
    }

    /// The numbers at that offset; none, where the file is not that long.
    fn numbers<const COUNT: usize>(
        &self,
        offset: u64,
    ) -> Result<Option<[u32; COUNT]>, CommitError> {
        let mut bytes = [[0; 4]; COUNT];
        match self.file.read_exact_at(bytes.as_flattened_mut(), offset) {
            Ok(()) => Ok(Some(bytes.map(u32::from_be_bytes))),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(CommitError::Fault(error.into())),
        }
    }
}

#[cfg(test)]
mod tests;
