//! Opening a store: for serving, for a command, or as a new file that a copy fills.

use std::fs::{self, File};
use std::path::Path;

use crate::engine::{Engine, IfMissing, Served};
use crate::error::StoreError;
use crate::sqlite::error::url;
use crate::sqlite::files::{self, files_beside, lock, require_index_of_server};
use crate::sqlite::schema::{self, FileKind};
use crate::sqlite::store::Sqlite;

/// See [`crate::open_to_serve`].
pub fn open_to_serve(path: &Path, if_missing: IfMissing) -> Result<Served<Sqlite>, StoreError> {
    let mut store = open_locked(path, if_missing)?;
    let is_new = if_missing == IfMissing::Create && store.create()?;
    store.prepare_to_serve()?;
    Ok(Served { store, is_new })
}

/// Opens a store so that no server can open it. With [`IfMissing::Create`] the file may be empty.
pub fn open_locked(path: &Path, if_missing: IfMissing) -> Result<Sqlite, StoreError> {
    let file = match if_missing {
        IfMissing::Create => files::open_or_create(path)?,
        IfMissing::Fail => files::open(path)?,
    };
    lock(&file, path)?;
    if schema::identify(path, &file)? == FileKind::Empty && if_missing == IfMissing::Fail {
        return Err(StoreError::Missing(url(path)));
    }
    // This also rolls back a creation that was killed.
    Sqlite::open(path, file)
}

/// See [`crate::open`].
pub fn open(path: &Path) -> Result<Sqlite, StoreError> {
    let file = files::open(path)?;
    require_index_of_server(&file, path)?;
    schema::require_store(path, &file)?;
    Sqlite::open(path, file)
}

/// See [`crate::fill`].
pub fn fill(
    path: &Path,
    fill: &mut dyn FnMut(&dyn Engine) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut store = Sqlite::open(path, new_file(path)?)?;
    let filled = fill_new(&mut store, fill);
    if filled.is_err() {
        // The file is not a store yet, so nobody has opened it, and it may have filled the disk.
        let files = files_beside(path);
        drop(store);
        for file in files.iter().map(|file| &**file).chain([path]) {
            let _ = fs::remove_file(file);
        }
    }
    filled
}

/// Opens the file of a new store, empty and locked. A file that is neither empty nor a store may
/// be what a killed copy has left.
fn new_file(path: &Path) -> Result<File, StoreError> {
    let file = files::open_or_create(path)?;
    lock(&file, path)?;
    match schema::identify(path, &file) {
        Ok(FileKind::Empty) => Ok(file),
        Err(StoreError::Unfinished(url)) => Err(StoreError::Unfinished(url)),
        Ok(FileKind::Store) | Err(_) => Err(StoreError::Exists(url(path))),
    }
}

fn fill_new(
    store: &mut Sqlite,
    fill: &mut dyn FnMut(&dyn Engine) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    store.create_unfinished()?;
    fill(store)?;
    store.finish()?;
    Ok(store.close().map(drop)?)
}
