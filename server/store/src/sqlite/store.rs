//! A store that is open: what the engine does with it.

use std::fs::File;
use std::path::Path;
use std::time::Instant;

use parking_lot::Mutex;
use rusqlite::wal::CheckpointMode;
use rusqlite::{Connection, ErrorCode, Params};

use crate::engine::{Engine, Outcome, Row, Sizes};
use crate::error::{CommitError, Reason, StoreError};
use crate::layout::LAYOUT;
use crate::sqlite::connection::{
    WAL_BOUND, checkpoint_at_once, connect, copy_wal, copy_wal_at_close,
};
use crate::sqlite::error::{failed, reason, url};
use crate::sqlite::files::{OPEN, sync_folder_of, wal_of};
use crate::sqlite::header::Header;
use crate::sqlite::opened_files::OpenedFiles;
use crate::sqlite::tables;
use crate::sqlite::writer::{Writer, shorten, transact};
use crate::token::{StoredToken, TokenName};
use crate::token_row;

/// What a process does with the store that it has open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It commits plants: it serves the store, or fills a new one. No other process does.
    Owner,
    /// It reads the store or changes its tokens, perhaps beside the owner.
    Guest,
}

/// A plant store in a file, with its WAL and the WAL's index beside it (`-wal`, `-shm`).
pub struct Sqlite {
    pub writer: Mutex<Writer>,
    /// For what must not wait for a commit: pages of plants, and the tokens, which it also changes.
    side_connection: Mutex<Connection>,
    files: OpenedFiles,
    /// What the file said when it was opened.
    header: Header,
    role: Role,
    /// Holds the server's lock (flock(2)). Dropped after the connections.
    file: File,
}

/// What the file says, without its WAL; an error if it is no plant store of this release.
pub fn header_of(path: &Path, file: &File) -> Result<Header, StoreError> {
    match Header::of_file(file).map_err(failed(OPEN))? {
        None => Err(StoreError::NotAPlantStore(url(path))),
        Some(header) if header.layout == LAYOUT => Ok(header),
        Some(header) => {
            Err(StoreError::OtherLayout { url: url(path), found: header.layout.into() })
        }
    }
}

impl Sqlite {
    /// Opens the store in that file.
    pub fn open_file(path: &Path, file: File, role: Role) -> Result<Self, StoreError> {
        let header = header_of(path, &file)?;
        let connection = connect(path).map_err(failed(OPEN))?;
        let with_wal = Header::of(&connection).map_err(failed(OPEN))?;
        if with_wal.is_none_or(|with_wal| with_wal.id != header.id) {
            let wal = wal_of(path).display().to_string();
            return Err(StoreError::ForeignFile { url: url(path), file: wal });
        }
        let side_connection = connect(path).map_err(failed(OPEN))?.into();
        let files = OpenedFiles::of(path, &file).map_err(failed(OPEN))?;
        let writer = Writer { connection, header, checkpointed: 0 }.into();
        Ok(Self { writer, side_connection, files, header, role, file })
    }

    /// Steps 2 and 3 of `mod.rs`.
    pub fn begin(&self) -> Result<(), StoreError> {
        const COPY: &str = "copy the store's WAL into its file";
        let mut writer = self.writer.lock();
        writer.set_open(true).map_err(failed(OPEN))?;
        // Without this the file would stay closed while it is served. It would be taken for whole
        // without its WAL, also if that has all plants.
        copy_wal(&writer.connection).map_err(failed(COPY))?;
        sync_folder_of(&wal_of(self.files.store())).map_err(failed(COPY))
    }

    /// Changes the tokens in one transaction. Returns how many.
    fn change_tokens(&self, statement: &str, values: impl Params) -> rusqlite::Result<usize> {
        let mut connection = self.side_connection.lock();
        // After a crash the WAL's pages may not be on the disk (`mod.rs`). Beside a server, its own
        // checkpoint has seen to that: then it does not matter if this one is kept from running.
        checkpoint_at_once(&mut connection, CheckpointMode::RESTART)?;
        transact(&mut connection, self.header, |transaction| transaction.execute(statement, values))
    }

    /// Why a commit failed; if the disk is full, also where to read what to do.
    fn with_advice(&self, error: CommitError) -> CommitError {
        match error {
            CommitError::Unavailable(cause) if reason(&cause) == Reason::Full => {
                let store = url(self.files.store()).absolute();
                let said = format!("{store}: {cause}: see server/RESTORE.md#rescue");
                CommitError::Unavailable(said.into())
            }
            other => other,
        }
    }

    /// Why the store was not closed, and what the next start needs.
    fn not_closed(&self, error: CommitError) -> CommitError {
        let cause = match error {
            CommitError::Unavailable(cause) | CommitError::Fault(cause) => cause,
            other => return other,
        };
        let wal = wal_of(self.files.store());
        let said = format!(
            "{cause}: end what uses the store, or free the disk. The next start needs {}: leave it \
             where it is. If it is gone because another program has copied it into the store, \
             start with --without-wal",
            wal.display()
        );
        CommitError::NotClosed(said.into())
    }
}

/// Step 6 of `mod.rs`: if the store is closed, in its file and with its WAL, the last connection
/// copies the WAL into the file and removes it. If that cannot be read, the WAL stays.
impl Drop for Sqlite {
    fn drop(&mut self) {
        let writer = &self.writer.get_mut().connection;
        let side_connection = self.side_connection.get_mut();
        let is_closed = says_closed(Header::of_file(&self.file).ok().flatten())
            && says_closed(Header::of(side_connection).ok().flatten());
        let _ = copy_wal_at_close(writer, is_closed);
        let _ = copy_wal_at_close(side_connection, is_closed);
    }
}

fn says_closed(header: Option<Header>) -> bool {
    header.is_some_and(|header| !header.is_open)
}

impl Engine for Sqlite {
    fn commit(&self, rows: &[Row], _: Instant) -> Result<Vec<Outcome>, CommitError> {
        self.writer.lock().put(rows).map_err(|error| self.with_advice(error))
    }

    fn upkeep(&self) -> Result<(), CommitError> {
        self.writer.lock().checkpoint_if_long()
    }

    fn page(&self, after: Option<i64>) -> Result<Vec<Row>, StoreError> {
        tables::page(&self.side_connection.lock(), after).map_err(failed("read the plants"))
    }

    fn tokens(&self) -> Result<Vec<StoredToken>, StoreError> {
        tables::tokens(&self.side_connection.lock()).map_err(failed("read the tokens"))
    }

    fn add_token(&self, token: &StoredToken) -> Result<(), StoreError> {
        let row = (
            token.name.as_str(),
            token.digest.0,
            &token.first_characters,
            token.created_at.timestamp(),
            token.expires_at.map(|expiry| expiry.timestamp()),
        );
        match self.change_tokens(token_row::ADD, row) {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                let store = url(self.files.store());
                Err(StoreError::TokenNameTaken { name: token.name.clone(), url: store })
            }
            added => added.map(drop).map_err(failed("store the token")),
        }
    }

    fn revoke_token(&self, name: &TokenName) -> Result<(), StoreError> {
        let revoked = self.change_tokens(token_row::REVOKE, [name.as_str()]);
        match revoked.map_err(failed("revoke the token"))? {
            0 => Err(StoreError::NoSuchToken(name.clone())),
            _ => Ok(()),
        }
    }

    fn check(&self) -> Result<Vec<String>, StoreError> {
        tables::faults(&self.side_connection.lock()).map_err(failed("check the store"))
    }

    fn inspect(&self) -> Result<(), CommitError> {
        self.files.are_in_place()
    }

    fn shorten_wal(&self) -> Result<(), CommitError> {
        if self.sizes().wal > Some(WAL_BOUND.into()) {
            shorten(self.files.store(), self.header)?;
        }
        Ok(())
    }

    fn sizes(&self) -> Sizes {
        self.files.sizes()
    }

    fn close(&self) -> Result<(), CommitError> {
        if self.role == Role::Guest {
            return Ok(());
        }
        self.files.are_in_place()?;
        self.writer.lock().close().map_err(|error| self.not_closed(error))
    }
}
