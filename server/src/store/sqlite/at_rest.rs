//! A store that this process cannot write: its disk is full, or it is mounted read-only, or a
//! permission is missing. It can be read while no server runs on it.
//!
//! SQLite would write the WAL's index beside the store. Without a WAL there is nothing to index, and
//! `immutable` reads the file alone (<https://sqlite.org/wal.html#read_only_databases>). With a WAL,
//! the locking mode `exclusive` keeps the index in memory
//! (<https://sqlite.org/wal.html#use_of_wal_without_shared_memory>). Its lock needs a file that may
//! be written, so this connection takes no lock of SQLite's (<https://sqlite.org/vfs.html>): the
//! lock of the server, which it shares, keeps writers away.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use crate::store::engine::{Sizes, Store};
use crate::store::error::StoreError;
use crate::store::sqlite::check::faults;
use crate::store::sqlite::connection::copy_wal_at_close;
use crate::store::sqlite::error::{failed, url};
use crate::store::sqlite::existing_file::{self, Rights, check_mark};
use crate::store::sqlite::files::sizes;
use crate::store::sqlite::lock::LockFile;
use crate::store::sqlite::names::wal_of;
use crate::store::sqlite::one_connection::OneConnection;
use crate::store::sqlite::schema;
use crate::store::version::check_readable;

const OPEN: &str = "open the store to read it";

pub struct FileAtRest {
    path: PathBuf,
    connection: Connection,
    /// Dropped after the connection.
    _lock: LockFile,
}

impl FileAtRest {
    /// Opens the store in that file; none if a server runs on it.
    pub fn open(path: &Path) -> Result<Option<Self>, StoreError> {
        existing_file::recognise(path, Rights::Read)?;
        let lock = LockFile::open_to_read(path).map_err(failed(OPEN))?;
        if !lock.share().map_err(failed(OPEN))? {
            return Ok(None);
        }
        existing_file::check_wal_is_there(path)?;
        let connection = connect(path).map_err(failed(OPEN))?;
        check_mark(&connection, path)?;
        check_readable(existing_file::version(&connection, path)?, &url(path))?;
        schema::show_as_present(&connection).map_err(failed(OPEN))?;
        Ok(Some(Self { path: path.to_owned(), connection, _lock: lock }))
    }
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    if wal_of(path).metadata().is_ok_and(|wal| wal.len() > 0) {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let uri = existing_file::uri(path);
        let connection = Connection::open_with_flags_and_vfs(uri, flags, "unix-none")?;
        connection.pragma_update(None, "locking_mode", "exclusive")?;
        copy_wal_at_close(&connection, false)?;
        return Ok(connection);
    }
    existing_file::alone(path)
}

impl OneConnection for FileAtRest {
    fn connection(&self) -> &Connection {
        &self.connection
    }
}

impl Store for FileAtRest {
    fn check(&self) -> Result<Vec<String>, StoreError> {
        faults(&self.connection).map_err(failed("check the store"))
    }

    fn sizes(&self) -> Result<Sizes, StoreError> {
        sizes(&self.path).map_err(failed("measure the store"))
    }
}
