//! Whether the paths of a served store still name the files that SQLite has opened, and whether
//! they still have their content.
//!
//! Nothing here may close a file of the store while a connection is open: that would drop SQLite's
//! locks.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Seek};
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::error::{Error, Kind};
use crate::sqlite::files::{create_temporary, sync_folder_of, wal_index_of, wal_of};

/// A file that SQLite has open: the path at which it was opened, and its device and inode, which
/// are unique as long as the file is open (inode(7)).
struct ServedFile {
    path: PathBuf,
    id: (u64, u64),
}

impl ServedFile {
    fn at(path: PathBuf) -> Result<Self, Error> {
        let file = fs::metadata(&path)?;
        Ok(Self { path, id: (file.dev(), file.ino()) })
    }

    /// Returns the length of the file. Fails if its path does not name it any more.
    fn length(&self) -> Result<u64, Error> {
        match fs::metadata(&self.path) {
            Ok(file) if (file.dev(), file.ino()) == self.id => Ok(file.len()),
            Ok(_) => {
                let message = format!("another file is at {} now", self.path.display());
                Err(Error::new(Kind::Gone, message))
            }
            Err(error) => match error.kind() {
                ErrorKind::NotFound | ErrorKind::NotADirectory => {
                    Err(self.gone("removed or renamed"))
                }
                _ => Err(Error::new(Kind::Other, format!("{}: {error}", self.path.display()))),
            },
        }
    }

    fn gone(&self, why: &str) -> Error {
        Error::new(Kind::Gone, format!("{} was {why}", self.path.display()))
    }
}

/// The header of a WAL index and its copy, which follows it
/// (<https://sqlite.org/walformat.html#the_wal_index_header>).
type IndexHeader = [u8; 96];

/// `mxFrame` in that header: the number of frames in the WAL, in the machine's byte order.
const FRAMES: Range<usize> = 16..20;

/// `aSalt` in that header: the salts of the WAL, which change when SQLite resets it.
const SALTS: Range<usize> = 32..40;

/// The size of a WAL's header, the place of the salts in it, and the size of the header of a frame,
/// in bytes (<https://sqlite.org/fileformat2.html#walformat>).
const WAL_HEADER: u64 = 32;
const WAL_SALTS: u64 = 16;
const FRAME_HEADER: u64 = 24;

/// The store's file, its WAL and the WAL index, as SQLite has opened them.
///
/// An open file accepts commits even after it was removed or renamed, and nobody would find those
/// commits. So each path is compared, by device and inode, with the file that was there when the
/// store was opened: before each commit, and once a second. SQLite itself removes neither the WAL
/// nor its index while a connection is open, and leaves neither file shorter than its content.
pub struct ServedFiles {
    store: ServedFile,
    wal: ServedFile,
    wal_index: ServedFile,
    /// The WAL, opened to read it, also after it was removed.
    frames: File,
    /// The WAL index. It must not be closed before the connections are, because that would drop
    /// SQLite's locks.
    index: File,
    /// The page size of the store in bytes. It cannot change while a connection uses the WAL.
    page_size: u32,
}

impl ServedFiles {
    /// Records the files of the store that SQLite has just opened at `path`. `file` was opened
    /// before.
    pub fn of(path: &Path, file: &File, connection: &Connection) -> Result<Self, Error> {
        let file = file.metadata()?;
        let files = Self {
            store: ServedFile { path: path.to_owned(), id: (file.dev(), file.ino()) },
            wal: ServedFile::at(wal_of(path))?,
            wal_index: ServedFile::at(wal_index_of(path))?,
            frames: File::open(wal_of(path))?,
            index: File::open(wal_index_of(path))?,
            page_size: connection.pragma_query_value(None, "page_size", |row| row.get(0))?,
        };
        files.are_in_place()?;
        Ok(files)
    }

    /// Fails if a file was removed, renamed or replaced, if the store's file is empty, or if the
    /// WAL lacks frames that its index counts.
    pub fn are_in_place(&self) -> Result<(), Error> {
        let header = self.index_header()?;
        let (store, wal) = (self.store.length()?, self.wal.length()?);
        self.wal_index.length()?;
        if store == 0 {
            return Err(self.store.gone("truncated"));
        }
        // SQLite truncates a WAL only after it has written to the index that the WAL is empty. So
        // if the index is still the same, its frames were there when the length was read.
        if header.is_some_and(|header| self.lacks_frames(wal, &header))
            && header == self.index_header()?
        {
            return Err(self.wal.gone("truncated"));
        }
        Ok(())
    }

    /// Whether this process still has every commit, and no other process can have added one: the
    /// WAL was removed, perhaps together with its index, but the open files are whole. An empty
    /// file at the path of the WAL is that of a command.
    pub fn have_lost_no_commit(&self) -> bool {
        let is_complete = || {
            let length = self.frames.metadata().ok()?.len();
            Some(!self.lacks_frames(length, &self.index_header().ok()??))
        };
        let index = &self.wal_index;
        fs::metadata(&self.wal.path).map_or(true, |file| file.len() == 0)
            && self.store.length().is_ok_and(|length| length > 0)
            && (index.length().is_ok() || !index.path.exists())
            && is_complete() == Some(true)
    }

    /// Writes the content of the removed WAL to its path, where the next start finds it, as after a
    /// crash. Nothing may commit at the same time.
    pub fn restore_wal(&self) -> Result<(), Error> {
        let path = &self.wal.path;
        let copy = create_temporary(path)?;
        let mut frames = &self.frames;
        frames.rewind()?;
        io::copy(&mut frames, &mut copy.as_file())?;
        copy.as_file().sync_all()?;
        copy.persist(path).map_err(|error| error.error)?;
        Ok(sync_folder_of(path)?)
    }

    /// Whether a WAL of this length is shorter than its index says, or has lost its beginning: a
    /// commit after a truncation leaves zeros before its own frames.
    fn lacks_frames(&self, length: u64, header: &IndexHeader) -> bool {
        let frames = u32::from_ne_bytes(header[FRAMES].try_into().expect("it has four bytes"));
        let needed = WAL_HEADER + u64::from(frames) * (FRAME_HEADER + u64::from(self.page_size));
        let mut salts = [0; 8];
        let is_read = self.frames.read_exact_at(&mut salts, WAL_SALTS).is_ok();
        frames > 0 && (length < needed || !is_read || salts != header[SALTS])
    }

    /// Reads the header of the WAL index. `None` while SQLite changes it: its halves then differ.
    fn index_header(&self) -> Result<Option<IndexHeader>, Error> {
        let mut header = [0; 96];
        self.index.read_exact_at(&mut header, 0)?;
        Ok((header[..48] == header[48..]).then_some(header))
    }
}
