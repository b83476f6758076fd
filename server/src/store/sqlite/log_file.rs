//! The bytes of the write-ahead log (<https://sqlite.org/fileformat2.html#the_write_ahead_log>):
//! which log it is, whether it has a mark, and whether another program has cut it.
//!
//! While a connection is open, SQLite trusts the log's index. Where the file was cut, it writes
//! behind the end, and the next checkpoint would copy the hole into the store.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;

use crate::store::engine::CommitError;
use crate::store::sqlite::checkpoint::Checkpoint;
use crate::store::sqlite::mark::Mark;
use crate::store::sqlite::place::Place;

/// The header of the log, and of each page in it, in bytes.
const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;

/// The first number of the header. Its last bit says that the checksums read big-endian numbers.
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
    /// The checksum before that page.
    before: Checksum,
}

/// The header of a log.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Header {
    is_big_endian: bool,
    page_size: u32,
    /// They change each time that the log starts over. Each page has them too.
    salts: [u32; 2],
    checksum: Checksum,
}

/// Of the log's header, and of all its pages so far.
type Checksum = [u32; 2];

impl LogFile {
    /// Opens the log in that place.
    pub fn open(place: &Place) -> io::Result<Self> {
        Ok(Self { file: File::open(place.log())?, seen: Mutex::default() })
    }

    /// Reads what was written since the last look, as the next start would after a crash. Returns
    /// the log's header; none, where the log is empty.
    ///
    /// # Errors
    ///
    /// The store or its log is not in its place, or the log is not as it was written: another
    /// program has cut it, and something may have been written behind the cut since; or it was
    /// written over.
    pub fn check(
        &self,
        connection: &Connection,
        place: &Place,
    ) -> Result<Option<Header>, CommitError> {
        let mut seen = self.seen();
        // Again: what is read one after the other may be of two logs, where it starts over meanwhile.
        for _ in 0..3 {
            let header = self.header()?;
            let pages = Checkpoint::Noop.run(connection)?.pages;
            place.check()?;
            let Ok(last) = u64::try_from(pages) else {
                // Another process writes the index just now.
                return Ok(header);
            };
            if last == 0 {
                *seen = None;
                return Ok(header);
            }
            if let Some(header) = header
                && let Some(before) = self.read_on(seen.as_ref(), header, last)?
            {
                *seen = Some(Seen { header, last, before });
                return Ok(Some(header));
            }
        }
        let cause = format!("{} was cut or written over", place.log().display());
        Err(CommitError::Gone(cause.into()))
    }

    /// As [`Self::check`], but for less: reads nothing where the log is as long as at the last look.
    pub fn check_length(&self, connection: &Connection, place: &Place) -> Result<(), CommitError> {
        let length = place.check()?;
        let seen = self.seen().as_ref().map_or(0, |seen| seen.header.length(seen.last));
        if length < seen { self.check(connection, place).map(drop) } else { Ok(()) }
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
        let mut bytes = [0; HEADER];
        Ok(if self.read(&mut bytes, 0)? { Header::of(&bytes) } else { None })
    }

    fn seen(&self) -> MutexGuard<'_, Option<Seen>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the pages from the last one that was seen, or all of a log that has started over since.
    /// Returns the checksum before the last one; none, where a page is not as it was written.
    fn read_on(
        &self,
        seen: Option<&Seen>,
        header: Header,
        last: u64,
    ) -> Result<Option<Checksum>, CommitError> {
        let seen = seen.filter(|seen| seen.header == header && seen.last <= last);
        let (first, mut before) = seen.map_or((1, header.checksum), |it| (it.last, it.before));
        let mut bytes = header.empty_page();
        for number in first..last {
            match self.page(header, number, before, &mut bytes)? {
                Some((_, checksum)) => before = checksum,
                None => return Ok(None),
            }
        }
        Ok(self.page(header, last, before, &mut bytes)?.map(|_| before))
    }

    /// Whether it has that page of the store.
    fn is_marked(&self, mark: u32) -> Result<bool, CommitError> {
        let Some(header) = self.header()? else { return Ok(false) };
        let (mut number, mut before, mut bytes) = (1, header.checksum, header.empty_page());
        while let Some((page, checksum)) = self.page(header, number, before, &mut bytes)? {
            if page == mark {
                return Ok(true);
            }
            (number, before) = (number + 1, checksum);
        }
        Ok(false)
    }

    /// Which page of the store the page with that number is, and its checksum; none, where it is
    /// not as it was written, or where it lies behind the end.
    fn page(
        &self,
        header: Header,
        number: u64,
        before: Checksum,
        bytes: &mut [u8],
    ) -> Result<Option<(u32, Checksum)>, CommitError> {
        if !self.read(bytes, header.length(number - 1))? {
            return Ok(None);
        }
        let [page, _, salt, other_salt, one, other] = numbers(bytes);
        let checksum = header.add(header.add(before, &bytes[..8]), &bytes[FRAME_HEADER..]);
        let is_written = [salt, other_salt] == header.salts && checksum == [one, other];
        Ok(is_written.then_some((page, checksum)))
    }

    /// Reads as many bytes from that offset on. Returns whether it is that long.
    fn read(&self, bytes: &mut [u8], offset: u64) -> Result<bool, CommitError> {
        match self.file.read_exact_at(bytes, offset) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(CommitError::Fault(error.into())),
        }
    }
}

impl Header {
    /// None, where the bytes are not one.
    fn of(bytes: &[u8; HEADER]) -> Option<Self> {
        let [magic, _, page_size, _, salt, other_salt, one, other] = numbers(bytes);
        let (is_big_endian, checksum) = (magic & 1 == 1, [one, other]);
        let header = Self { is_big_endian, page_size, salts: [salt, other_salt], checksum };
        let is_one = magic & !1 == MAGIC && header.add([0, 0], &bytes[..24]) == checksum;
        is_one.then_some(header)
    }

    /// The length of the log with so many pages.
    pub fn length(&self, pages: u64) -> u64 {
        HEADER as u64 + pages * (FRAME_HEADER as u64 + u64::from(self.page_size))
    }

    /// Room for a page and its header.
    fn empty_page(&self) -> Vec<u8> {
        vec![0; FRAME_HEADER + self.page_size as usize]
    }

    /// The checksum of what it covers so far and of these bytes, eight at a time.
    fn add(&self, checksum: Checksum, bytes: &[u8]) -> Checksum {
        let number = if self.is_big_endian { u32::from_be_bytes } else { u32::from_le_bytes };
        let (pairs, _) = bytes.as_chunks::<4>().0.as_chunks::<2>();
        pairs.iter().fold(checksum, |[one, other], pair| {
            let one = one.wrapping_add(number(pair[0])).wrapping_add(other);
            [one, other.wrapping_add(number(pair[1])).wrapping_add(one)]
        })
    }
}

/// The numbers at the beginning.
fn numbers<const COUNT: usize>(bytes: &[u8]) -> [u32; COUNT] {
    let (numbers, _) = bytes.as_chunks();
    std::array::from_fn(|index| u32::from_be_bytes(numbers[index]))
}

#[cfg(test)]
mod tests;
