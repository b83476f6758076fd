//! An open store, and the engine's operations on it.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Instant;

use parking_lot::Mutex;
use rusqlite::Connection;

use crate::engine::{Checked, Closed, Engine, Outcome, Row, Sizes};
use crate::error::{StoreError, WriteError};
use crate::sqlite::connection::{Access, WAL_BOUND, connect, remove_wal_at_close, use_wal};
use crate::sqlite::error::{Unsound, failed, url};
use crate::sqlite::files::{CREATE, OPEN, sizes};
use crate::sqlite::opened_files::OpenedFiles;
use crate::sqlite::wal::{
    Checkpoints, checkpoint_truncate, sync_empty_wal, truncate_long_wal, try_checkpoint_truncate,
};
use crate::sqlite::{rows, schema, tokens};
use crate::token::{StoredToken, TokenName};

const OPEN_WITH_WAL: &str = "read the file together with its WAL, which takes its -shm file, or \
    write access to the file and its folder";
const CHECKPOINT: &str = "copy the store's WAL into its file";
const CLOSE: &str = "close the store";
const READ_TOKENS: &str = "read the tokens";

/// A store in a file, with the WAL and the WAL index beside it (`-wal`, `-shm`).
pub struct Sqlite {
    path: PathBuf,
    commits: Mutex<Commits>,
    /// Reads rows, and reads and changes the tokens, which must not wait for a commit.
    pub reads: Mutex<Connection>,
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
    pub fn open(path: &Path, file: File, access: Access) -> Result<Self, StoreError> {
        let open = if access == Access::Read { OPEN_WITH_WAL } else { OPEN };
        let connect = || connect(path, access).map_err(failed(path, open));
        let commits = Commits { connection: connect()?, checkpoints: Checkpoints::default() };
        let reads = connect()?.into();
        Ok(Self { path: path.to_owned(), commits: commits.into(), reads, served_files: None, file })
    }

    /// Creates the store in one transaction, unless it exists. Returns whether it was created.
    pub fn create(&mut self) -> Result<bool, StoreError> {
        let connection = &mut self.commits.get_mut().connection;
        schema::create(connection).map_err(failed(&self.path, CREATE))
    }

    /// Prepares the store for serving. Its whole content is on the disk when this returns.
    pub fn prepare_to_serve(&mut self) -> Result<(), StoreError> {
        // From now on closing a connection keeps the WAL, unless `close` has checkpointed it.
        self.remove_wal_at_close(false)?;
        let connection = &self.commits.get_mut().connection;
        use_wal(connection).map_err(failed(&self.path, OPEN))?;
        checkpoint_truncate(connection).map_err(failed(&self.path, CHECKPOINT))?;
        sync_empty_wal(&self.path).map_err(failed(&self.path, CHECKPOINT))?;
        self.served_files =
            Some(OpenedFiles::of(&self.path, &self.file).map_err(failed(&self.path, OPEN))?);
        Ok(())
    }

    /// Sets whether the last connection that is closed checkpoints and removes the WAL.
    pub fn remove_wal_at_close(&mut self, remove: bool) -> Result<(), StoreError> {
        for connection in [&self.commits.get_mut().connection, self.reads.get_mut()] {
            remove_wal_at_close(connection, remove).map_err(failed(&self.path, OPEN))?;
        }
        Ok(())
    }

    /// Makes everything that is read from now on one state of the store.
    pub fn hold_state(&self) -> Result<(), StoreError> {
        self.reads.lock().execute_batch("BEGIN").map_err(failed(&self.path, OPEN))
    }

    /// Checks the table of the tokens, and nothing else.
    pub fn check_tokens(&self) -> Result<(), StoreError> {
        let damage = schema::damage(&self.reads.lock(), "main.integrity_check(tokens)");
        match damage.map_err(failed(&self.path, READ_TOKENS))? {
            damage if damage.is_empty() => Ok(()),
            damage => Err(failed(&self.path, READ_TOKENS)(Unsound(damage))),
        }
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
        let connection = self.reads.lock();
        rows::page(&connection, after, limit).map_err(failed(&self.path, "read the rows"))
    }

    fn count(&self) -> Result<u64, StoreError> {
        rows::count(&self.reads.lock()).map_err(failed(&self.path, "count the rows"))
    }

    fn tokens(&self) -> Result<Vec<StoredToken>, StoreError> {
        tokens::tokens(&self.reads.lock()).map_err(failed(&self.path, READ_TOKENS))
    }

    fn add_token(&self, token: &StoredToken) -> Result<(), StoreError> {
        let added = tokens::add_token(&mut self.reads.lock(), token);
        if added.map_err(failed(&self.path, "store the token"))? {
            Ok(())
        } else {
            let name = token.name.clone();
            Err(StoreError::TokenNameTaken { name, url: url(&self.path) })
        }
    }

    fn revoke_token(&self, name: &TokenName) -> Result<(), StoreError> {
        let revoked = tokens::revoke_token(&mut self.reads.lock(), name);
        if revoked.map_err(failed(&self.path, "revoke the token"))? {
            Ok(())
        } else {
            Err(StoreError::NoSuchToken(name.clone()))
        }
    }

    fn check(&self) -> Result<Checked, StoreError> {
        let faults = schema::faults(&self.reads.lock());
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
        let reads = self.reads.lock();
        self.require_files_in_place().map_err(failed(&self.path, CLOSE))?;
        let connection = &mut self.commits.lock().connection;
        if !try_checkpoint_truncate(connection).map_err(failed(&self.path, CHECKPOINT))? {
            return Ok(Closed::WalLeft { bytes: sizes(&self.path).wal.unwrap_or_default() });
        }
        for connection in [&*connection, &reads] {
            remove_wal_at_close(connection, true).map_err(failed(&self.path, CLOSE))?;
        }
        Ok(Closed::Clean)
    }
}
