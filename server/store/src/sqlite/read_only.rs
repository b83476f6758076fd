//! A store that cannot be written, because its disk is full or read-only. No server uses it.
//!
//! SQLite's readers write the WAL's index beside the store. If a connection says that it is the
//! only one, SQLite keeps the index in memory
//! (<https://sqlite.org/wal.html#use_of_wal_without_shared_memory>). Without a WAL the file is all
//! there is, and is opened as one that nobody changes
//! (<https://sqlite.org/c3ref/open.html#coreuriqueryparameters>).

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Instant;

use parking_lot::Mutex;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::engine::{Checked, Closed, Engine, Outcome, Row, Sizes};
use crate::error::{StoreError, WriteError};
use crate::sqlite::error::{failed, url};
use crate::sqlite::files::{OPEN, is_empty_wal, sizes};
use crate::sqlite::{plants, schema, tokens};
use crate::token::{StoredToken, TokenName};

pub struct ReadOnly {
    path: PathBuf,
    connection: Mutex<Connection>,
    /// With its lock no server starts meanwhile. Dropped after the connection.
    file: File,
}

/// Opens the store to read it.
pub fn open(path: &Path) -> Result<ReadOnly, StoreError> {
    let store = open_unlocked(path)?;
    store.file.try_lock_shared().map_err(|_| StoreError::ServedElsewhere(url(path)))?;
    Ok(store)
}

/// Opens a file that may be shorter than its header says, to read it as far as it goes. A restore
/// has the lock already.
pub fn open_short(path: &Path) -> Result<ReadOnly, StoreError> {
    let store = open_unlocked(path)?;
    // The setting also has this effect (<https://sqlite.org/pragma.html#pragma_writable_schema>).
    // Nothing is written.
    let set =
        store.connection.lock().set_db_config(DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, true);
    set.map_err(failed(path, OPEN))?;
    Ok(store)
}

fn open_unlocked(path: &Path) -> Result<ReadOnly, StoreError> {
    let file = File::open(path).map_err(failed(path, OPEN))?;
    schema::require_store(path, &file)?;
    let connection = connect(path).map_err(failed(path, OPEN))?;
    Ok(ReadOnly { path: path.to_owned(), connection: connection.into(), file })
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if is_empty_wal(&path) {
        let escaped = path.to_string_lossy().replace('%', "%25").replace('#', "%23");
        let uri = format!("file:{}?immutable=1", escaped.replace('?', "%3f"));
        return Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI);
    }
    // It takes no locks: on a file that cannot be written it could not take the one that says that
    // it is the only one.
    let connection = Connection::open_with_flags_and_vfs(path, flags, "unix-none")?;
    connection.pragma_update(None, "locking_mode", "exclusive")?;
    Ok(connection)
}

impl ReadOnly {
    /// What it is not opened for.
    fn refused(&self) -> StoreError {
        let cause = io::Error::from(ErrorKind::ReadOnlyFilesystem);
        failed(&self.path, "write to a store that was opened to be read")(cause)
    }
}

impl Engine for ReadOnly {
    fn commit(&self, _: &[Row], _: Instant) -> Result<Vec<Outcome>, WriteError> {
        Err(WriteError::Unavailable(self.refused().into()))
    }

    fn page(&self, after: Option<i64>, limit: usize) -> Result<Vec<Row>, StoreError> {
        let page = plants::page(&self.connection.lock(), after, limit);
        page.map_err(failed(&self.path, "read the plants"))
    }

    fn tokens(&self) -> Result<Vec<StoredToken>, StoreError> {
        tokens::tokens(&self.connection.lock()).map_err(failed(&self.path, "read the tokens"))
    }

    fn add_token(&self, _: &StoredToken) -> Result<(), StoreError> {
        Err(self.refused())
    }

    fn revoke_token(&self, _: &TokenName) -> Result<(), StoreError> {
        Err(self.refused())
    }

    fn check(&self) -> Result<Checked, StoreError> {
        let faults = schema::faults(&self.connection.lock());
        let faults = faults.map_err(failed(&self.path, "check the store"))?;
        Ok(Checked { faults, sizes: sizes(&self.path) })
    }

    fn inspect(&self) -> Result<Sizes, WriteError> {
        Ok(sizes(&self.path))
    }

    fn close(&self) -> Result<Closed, StoreError> {
        Ok(Closed::Wholly)
    }
}
