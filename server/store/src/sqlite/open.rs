//! Opening a store: to read it, to change its tokens, or to serve it.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use crate::Names;
use crate::engine::{Mode, Opened};
use crate::error::{At, Error};
use crate::sqlite::files::{self, CREATE, OPEN, lock, require_index_of_server, sizes};
use crate::sqlite::served_files::ServedFiles;
use crate::sqlite::wal::{
    checkpoint_truncate, connect, remove_wal_at_close, sync_empty_wal, use_wal,
};
use crate::sqlite::{CHECKPOINT, Sqlite, schema, url};

/// See [`crate::open`].
pub fn open(names: &'static Names, path: &Path, mode: Mode) -> Result<Opened, Error> {
    let (store, is_new) = match mode {
        Mode::Read => (open_to_read(names, path)?, false),
        Mode::Change => (open_to_change(names, path)?, false),
        Mode::Serve | Mode::ServeOrCreate => open_to_serve(names, path, mode)?,
    };
    Ok(Opened { store: Arc::new(store), is_new })
}

/// Opens a store for serving. Returns whether it was created.
pub fn open_to_serve(
    names: &'static Names,
    path: &Path,
    mode: Mode,
) -> Result<(Sqlite, bool), Error> {
    let may_create = mode == Mode::ServeOrCreate;
    let (file, was_created) =
        if may_create { files::open_or_create(path)? } else { (files::open(path)?, false) };
    lock(&file, path)?;
    if !was_created {
        schema::require_store(path, &file, names)?;
    }
    // This also rolls back a creation that was killed.
    let mut store = Sqlite::open(names, path, file)?;
    let connection = store.commits.get_mut();
    let is_new = may_create && schema::create(connection, names).at(url(path), CREATE)?;
    store.prepare_to_serve()?;
    Ok((store, is_new))
}

/// Opens a store to change its tokens.
pub fn open_to_change(names: &'static Names, path: &Path) -> Result<Sqlite, Error> {
    let file = files::open(path)?;
    require_index_of_server(&file, path)?;
    schema::require_store(path, &file, names)?;
    Sqlite::open(names, path, file)
}

/// Opens a store to read it.
pub fn open_to_read(names: &'static Names, path: &Path) -> Result<Sqlite, Error> {
    let has_wal = sizes(path).wal > Some(0);
    let mut store = open_to_change(names, path)?;
    if has_wal {
        // A command that only reads leaves the WAL of a crash where it is.
        store.remove_wal_at_close(false)?;
    }
    Ok(store)
}

impl Sqlite {
    /// Opens the file. It is either a store, or empty and locked.
    fn open(names: &'static Names, path: &Path, file: File) -> Result<Self, Error> {
        let connect = || connect(path).at(url(path), OPEN);
        Ok(Self {
            names,
            path: path.to_owned(),
            commits: connect()?.into(),
            reads: connect()?.into(),
            served_files: None,
            file,
        })
    }

    /// Prepares the store for serving. Its whole content is on the disk when this returns.
    fn prepare_to_serve(&mut self) -> Result<(), Error> {
        // From now on closing a connection keeps the WAL, unless `close` has checkpointed it.
        self.remove_wal_at_close(false)?;
        let connection = self.commits.get_mut();
        use_wal(connection).at(url(&self.path), OPEN)?;
        checkpoint_truncate(connection).at(url(&self.path), CHECKPOINT)?;
        sync_empty_wal(&self.path).at(url(&self.path), CHECKPOINT)?;
        let served_files = ServedFiles::of(&self.path, &self.file, connection);
        self.served_files = Some(served_files.at(url(&self.path), OPEN)?);
        Ok(())
    }

    /// Sets whether the last connection that is closed checkpoints and removes the WAL.
    fn remove_wal_at_close(&mut self, remove: bool) -> Result<(), Error> {
        for connection in [self.commits.get_mut(), self.reads.get_mut()] {
            remove_wal_at_close(connection, remove).at(url(&self.path), OPEN)?;
        }
        Ok(())
    }
}
