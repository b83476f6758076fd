//! A new store: a temporary file beside its place, renamed when it is whole.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::{Path, PathBuf};

use nix::unistd::geteuid;
use rusqlite::Connection;
use tempfile::NamedTempFile;

use crate::store::engine::NewStore;
use crate::store::error::{Cause, StoreError, failed};
use crate::store::sqlite::error::url;
use crate::store::sqlite::lock::{self, LockFile};
use crate::store::sqlite::names::{denied, folder_of, left_beside};
use crate::store::sqlite::one_connection::OneConnection;
use crate::store::sqlite::row;
use crate::store::sqlite::schema;
use crate::store::sqlite::tokens;
use crate::token::StoredToken;
use crate::types::NewPlant;

const CREATE: &str = "create the store";

/// Dropping it removes the file, unless it was published.
pub struct NewFile {
    path: PathBuf,
    /// Inside a transaction, without a journal and without a sync: until it is published, nobody
    /// needs the file.
    connection: Connection,
    file: NamedTempFile,
}

impl NewFile {
    /// Begins a store for that path.
    ///
    /// # Errors
    ///
    /// Also if something is in the place, or files of a store that was there.
    pub fn begin(path: &Path) -> Result<Self, StoreError> {
        if path.symlink_metadata().is_ok() {
            return Err(StoreError::Exists(url(path)));
        }
        if let Some(files) = left_beside(path) {
            return Err(StoreError::LeftBehind { url: url(path), files });
        }
        Self::make(path).map_err(failed(CREATE))
    }

    fn make(path: &Path) -> Result<Self, Cause> {
        let folder = folder_of(path);
        if !fs::metadata(folder).is_ok_and(|folder| folder.is_dir()) {
            return Err(format!("there is no folder {}", folder.display()).into());
        }
        let file = match tempfile::Builder::new().prefix(".plant-store-").tempfile_in(folder) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                return Err(denied("write to the folder", folder).into());
            }
            file => file?,
        };
        if geteuid().is_root() {
            // The service that uses the folder must be able to use a store that root restores in it.
            // In a container root may not be allowed to; then the file stays root's.
            let owner = fs::metadata(folder)?;
            let _ = fchown(file.as_file(), Some(owner.uid()), Some(owner.gid()));
        }
        let mut connection = Connection::open(file.path())?;
        connection.pragma_update(None, "journal_mode", "off")?;
        connection.pragma_update(None, "synchronous", "off")?;
        let transaction = connection.transaction()?;
        schema::bring_up_to_date(&transaction)?;
        transaction.commit()?;
        connection.execute_batch("BEGIN")?;
        Ok(Self { path: path.to_owned(), connection, file })
    }

    /// Publishes the store for a server, which locks it before others can see it; none if something
    /// else is in the place by now.
    pub fn publish_locked(self) -> Result<Option<LockFile>, StoreError> {
        self.finish().map_err(failed(CREATE))
    }

    fn finish(self) -> Result<Option<LockFile>, Cause> {
        let Self { path, connection, file } = self;
        connection.execute_batch("COMMIT")?;
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.close().map_err(|(_, error)| error)?;
        // This descriptor was opened before the first write, so it reports every write that failed.
        file.as_file().sync_all()?;
        lock::take(file.as_file())?;
        match file.persist_noclobber(&path) {
            // The name is durable once the folder is synced. If that fails, the store stays: another
            // process may use it by now, and a writer syncs the folder before it answers.
            Ok(file) => {
                File::open(folder_of(&path))?.sync_all()?;
                Ok(Some(LockFile::new(file)))
            }
            Err(lost) if lost.error.kind() == ErrorKind::AlreadyExists => Ok(None),
            Err(error) => Err(error.error.into()),
        }
    }
}

impl OneConnection for NewFile {
    fn connection(&self) -> &Connection {
        &self.connection
    }
}

impl NewStore for NewFile {
    fn add(&mut self, plants: &[NewPlant]) -> Result<(), StoreError> {
        let insert = || -> rusqlite::Result<()> {
            let mut insert = row::insert(&self.connection)?;
            for plant in plants {
                // Fails if the id is taken.
                insert.insert(row::values(plant))?;
            }
            Ok(())
        };
        insert().map_err(failed("write the plants"))
    }

    fn add_token(&mut self, token: &StoredToken) -> Result<(), StoreError> {
        tokens::insert(&self.connection, token).map_err(failed("write the tokens"))
    }

    fn unfinished(&self) -> Option<&Path> {
        Some(self.file.path())
    }

    fn publish(self: Box<Self>) -> Result<bool, StoreError> {
        Ok(self.publish_locked()?.is_some())
    }
}
