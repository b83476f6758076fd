//! An open store, and the engine's operations on it.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Instant;

use parking_lot::Mutex;
use rusqlite::Connection;

use crate::engine::{Checked, Closed, Engine, Outcome, Row, Sizes};
use crate::error::{StoreError, WriteError};
use crate::sqlite::connection::{WAL_BOUND, connect, remove_wal_at_close, use_wal};
use crate::sqlite::error::{failed, url};
use crate::sqlite::files::{CREATE, OPEN, sizes};
use crate::sqlite::opened_files::OpenedFiles;
use crate::sqlite::wal::{
    Checkpoints, checkpoint_truncate, sync_empty_wal, truncate_long_wal, try_checkpoint_truncate,
};
use crate::sqlite::{rows, schema, tokens};
use crate::token::{StoredToken, TokenName};

const CHECKPOINT: &str = "copy the store's WAL into its file";
const CLOSE: &str = "close the store";

/// A store in a file, with the WAL and the WAL index beside it (`-wal`, `-shm`).
pub struct Sqlite {
    path: PathBuf,
    commits: Mutex<Commits>,
    /// Reads pages of rows, which must not wait for a commit.
    page_connection: Mutex<Connection>,
    /// Reads and changes the tokens, which must not wait for a page either.
    token_connection: Mutex<Connection>,
    /// The files of the store if it is being served.
    served_files: Option<OpenedFiles>,
    /// Holds the server's lock (flock(2)). It is dropped after the connections.
    file: File,
}

/// The connection that commits rows, and its checkpoints.
struct Commits {
    connection: Connection,
    checkpoints: Checkpoints,
}

impl Sqlite {
    /// Opens the file. It is either a store, or empty and locked.
    pub fn open(path: &Path, file: File) -> Result<Self, StoreError> {
        let connect = || connect(path).map_err(failed(path, OPEN));
        let commits = Commits { connection: connect()?, checkpoints: Checkpoints::default() };
        Ok(Self {
            path: path.to_owned(),
            commits: commits.into(),
            page_connection: connect()?.into(),
            token_connection: connect()?.into(),
            served_files: None,
            file,
        })
    }

    /// Creates the store in one transaction, unless it exists. Returns whether it was created.
    pub fn create(&mut self) -> Result<bool, StoreError> {
        schema::create(self.connection()).map_err(failed(&self.path, CREATE))
    }

    /// Prepares the store for serving. Its whole content is on the disk when this returns.
    pub fn prepare_to_serve(&mut self) -> Result<(), StoreError> {
        self.use_wal()?;
        let connection = &self.commits.get_mut().connection;
        checkpoint_truncate(connection).map_err(failed(&self.path, CHECKPOINT))?;
        sync_empty_wal(&self.path).map_err(failed(&self.path, CHECKPOINT))?;
        self.served_files =
            Some(OpenedFiles::of(&self.path, &self.file).map_err(failed(&self.path, OPEN))?);
        Ok(())
    }

    /// Creates the tables of a file that will be filled. It is not a store until [`Self::finish`].
    pub fn create_unfinished(&mut self) -> Result<(), StoreError> {
        schema::create_tables(self.connection()).map_err(failed(&self.path, CREATE))?;
        self.use_wal()
    }

    /// Marks the filled file as a store. Its whole content is on the disk when this returns.
    pub fn finish(&mut self) -> Result<(), StoreError> {
        let connection = &self.commits.get_mut().connection;
        // The mark is read from the file itself, so everything else must be in the file before it.
        checkpoint_truncate(connection).map_err(failed(&self.path, CHECKPOINT))?;
        schema::mark_as_store(connection).map_err(failed(&self.path, CREATE))?;
        checkpoint_truncate(connection).map_err(failed(&self.path, CHECKPOINT))
    }

    /// Returns the connection that commits.
    pub fn connection(&mut self) -> &mut Connection {
        &mut self.commits.get_mut().connection
    }

    fn use_wal(&mut self) -> Result<(), StoreError> {
        let connection = &self.commits.get_mut().connection;
        let pages = self.page_connection.get_mut();
        // From now on closing a connection keeps the WAL, unless `close` has checkpointed it.
        for connection in [connection, pages, self.token_connection.get_mut()] {
            remove_wal_at_close(connection, false).map_err(failed(&self.path, OPEN))?;
        }
        use_wal(connection).map_err(failed(&self.path, OPEN))
    }

    /// Fails if a file of a served store was removed, renamed or replaced.
    fn require_files_in_place(&self) -> Result<(), WriteError> {
        self.served_files.as_ref().map_or(Ok(()), OpenedFiles::are_in_place)
    }
}

impl Engine for Sqlite {
    /// Checks the files before and after the transaction: nobody would find a row that was
    /// committed to a removed or replaced file.
    fn commit(&self, rows: &[Row], _: Instant) -> Result<Vec<Outcome>, WriteError> {
        self.require_files_in_place()?;
        let outcomes = rows::commit(&mut self.commits.lock().connection, rows)?;
        self.require_files_in_place()?;
        Ok(outcomes)
    }

    fn upkeep(&self) -> Result<(), WriteError> {
        let Commits { connection, checkpoints } = &mut *self.commits.lock();
        checkpoints.run_if_long(connection)
    }

    fn page(&self, after: Option<i64>, limit: usize) -> Result<Vec<Row>, StoreError> {
        let connection = self.page_connection.lock();
        rows::page(&connection, after, limit).map_err(failed(&self.path, "read the rows"))
    }

    fn count(&self) -> Result<u64, StoreError> {
        rows::count(&self.page_connection.lock()).map_err(failed(&self.path, "count the rows"))
    }

    fn tokens(&self) -> Result<Vec<StoredToken>, StoreError> {
        tokens::tokens(&self.token_connection.lock()).map_err(failed(&self.path, "read the tokens"))
    }

    fn add_token(&self, token: &StoredToken) -> Result<(), StoreError> {
        let added = tokens::add_token(&mut self.token_connection.lock(), token);
        if added.map_err(failed(&self.path, "store the token"))? {
            Ok(())
        } else {
            let name = token.name.clone();
            Err(StoreError::TokenNameTaken { name, url: url(&self.path) })
        }
    }

    fn revoke_token(&self, name: &TokenName) -> Result<(), StoreError> {
        let revoked = tokens::revoke_token(&mut self.token_connection.lock(), name);
        if revoked.map_err(failed(&self.path, "revoke the token"))? {
            Ok(())
        } else {
            Err(StoreError::NoSuchToken(name.clone()))
        }
    }

    fn check(&self) -> Result<Checked, StoreError> {
        let faults = schema::faults(&self.page_connection.lock(), "main");
        let faults = faults.map_err(failed(&self.path, "check the store"))?;
        Ok(Checked { faults, sizes: sizes(&self.path) })
    }

    fn inspect(&self) -> Result<Sizes, WriteError> {
        self.require_files_in_place()?;
        if sizes(&self.path).wal > Some(WAL_BOUND.into()) {
            truncate_long_wal(&self.path)?;
        }
        Ok(sizes(&self.path))
    }

    /// Runs a last checkpoint. If another program blocks it, the WAL stays, and the next start
    /// copies it into the store's file.
    fn close(&self) -> Result<Closed, StoreError> {
        // Locked first: reading the tokens at the same time would block the checkpoint.
        let pages = self.page_connection.lock();
        let tokens = self.token_connection.lock();
        self.require_files_in_place().map_err(failed(&self.path, CLOSE))?;
        let connection = &mut self.commits.lock().connection;
        if !try_checkpoint_truncate(connection).map_err(failed(&self.path, CHECKPOINT))? {
            return Ok(Closed::WalLeft { bytes: sizes(&self.path).wal.unwrap_or_default() });
        }
        for connection in [&*connection, &pages, &tokens] {
            remove_wal_at_close(connection, true).map_err(failed(&self.path, CLOSE))?;
        }
        Ok(Closed::Clean)
    }
}
