//! Opening a store: for serving, or for a command that reads it or changes its tokens.

use std::path::Path;

use crate::engine::{IfMissing, Served};
use crate::error::StoreError;
use crate::sqlite::connection::Access;
use crate::sqlite::error::url;
use crate::sqlite::files::{
    self, has_pages_beside, lock, require_index_of_server, require_write_access,
};
use crate::sqlite::schema::{self, FileKind};
use crate::sqlite::store::Sqlite;

/// See [`crate::open_to_serve`].
pub fn open_to_serve(path: &Path, if_missing: IfMissing) -> Result<Served<Sqlite>, StoreError> {
    let file = match if_missing {
        IfMissing::Create => files::open_or_create(path)?,
        IfMissing::Fail => files::open(path)?,
    };
    lock(&file, path)?;
    if schema::identify(path, &file)? == FileKind::Empty && if_missing == IfMissing::Fail {
        return Err(StoreError::Missing(url(path)));
    }
    // This also rolls back a creation that was killed.
    let mut store = Sqlite::open(path, file, Access::Write)?;
    let is_new = if_missing == IfMissing::Create && store.create()?;
    store.prepare_to_serve()?;
    Ok(Served { store, is_new })
}

/// See [`crate::open_to_change`].
pub fn open_to_change(path: &Path) -> Result<Sqlite, StoreError> {
    let file = files::open(path)?;
    require_index_of_server(&file, path)?;
    schema::require_store(path, &file)?;
    Sqlite::open(path, file, Access::Write)
}

/// See [`crate::open_to_read`].
///
/// SQLite's readers write to the WAL index. Without write access to the file and its folder, a file
/// that no server has open, and that contains everything, is read alone. Any other store is read
/// through the WAL and the index that are there, or not at all. Nothing is read past a WAL.
pub fn open_to_read(path: &Path) -> Result<Sqlite, StoreError> {
    let file = files::open_to_read(path)?;
    schema::require_store(path, &file)?;
    let access = if require_write_access(path).is_ok() {
        require_index_of_server(&file, path)?;
        Access::Write
    // The lock keeps a server from starting until this process has closed the file.
    } else if !has_pages_beside(path) && file.try_lock_shared().is_ok() {
        Access::Immutable
    } else {
        Access::Read
    };
    let has_pages_beside = has_pages_beside(path);
    let mut store = Sqlite::open(path, file, access)?;
    if has_pages_beside {
        // A command that only reads leaves the WAL of a crash where it is.
        store.remove_wal_at_close(false)?;
    }
    Ok(store)
}

/// Opens a store to read one state of it.
pub fn open_state_to_read(path: &Path) -> Result<Sqlite, StoreError> {
    let store = open_to_read(path)?;
    store.hold_state()?;
    Ok(store)
}
