//! SQLite: the embedded engine.
//!
//! Write-ahead log and `synchronous=FULL`: a commit returns when the WAL is synced, and that makes
//! it durable (<https://sqlite.org/pragma.html#pragma_synchronous>).
//!
//! SQLite uses any WAL that has the right name, and none if it is missing. So a WAL must have the id
//! of its file, and a file that is open must have a WAL that is not empty (`header.rs`). The steps
//! of a server keep both true, whenever it is killed:
//!
//! 1. A stopped store is closed in its file. Its WAL may have any length.
//! 2. The first commit sets "open", in the WAL alone. The file is still closed.
//! 3. A checkpoint copies that into the file. SQLite syncs the WAL before, and the WAL keeps its
//!    pages: while the store is open, no checkpoint may truncate it.
//! 4. A checkpoint copies all plants into the file. Then the last commit sets "closed", in the WAL
//!    alone: a checkpoint copies the first page first, and a closed file must not need its WAL.
//! 5. A checkpoint copies that into the file, syncs the file, and empties the WAL then. If a reader
//!    is in its way, the file stays open and the WAL stays too.
//! 6. The last connection removes the WAL, if it sees a closed store.
//!
//! The checkpoint of step 3 is also what makes the WAL of a crash durable. Its pages may have been
//! dropped after a failed fsync, and the next commits are not written behind them: the WAL
//! starts over.
//!
//! While a connection of this process is open, nothing but SQLite may close the store's file:
//! closing any descriptor of it drops SQLite's locks
//! (<https://sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_>).

mod connection;
mod error;
mod file;
mod header;
mod tables;
mod writer;

pub use file::unfinished;

use std::fs::File;
use std::path::Path;
use std::time::Instant;

use anyhow::Context;
use parking_lot::Mutex;
use rusqlite::{Connection, ErrorCode, Params};

use crate::engine::{Engine, LAYOUT, Outcome, Row, Sizes, Start};
use crate::error::{CommitError, Reason, StoreError};
use crate::sqlite::connection::{Checkpoint, WAL_BOUND, connect, copy_wal_at_close};
use crate::sqlite::error::{failed, reason, url};
use crate::sqlite::file::{
    CREATE, OPEN, Place, is_empty_wal, lock, make, publish, remove_beside, sync_folder_of, wal_of,
};
use crate::sqlite::header::Header;
use crate::sqlite::writer::{Writer, shorten, transact};
use crate::token::{StoredToken, TokenName};
use crate::token_row;

/// A plant store in a file, with its WAL and the WAL's index beside it (`-wal`, `-shm`).
pub struct Sqlite {
    writer: Mutex<Writer>,
    /// For what must not wait for a commit: the tokens, and all reading.
    reader: Mutex<Connection>,
    place: Place,
    /// What the file said when it was opened.
    header: Header,
    /// Whether this process serves the store or fills a new one. If not, it reads the store or changes
    /// its tokens, perhaps beside a server.
    is_owner: bool,
    /// Holds the server's lock (flock(2)). Dropped after the connections.
    _file: File,
}

/// See [`crate::serve`].
pub fn serve(path: &Path, start: Start) -> Result<(Sqlite, bool), StoreError> {
    // The server that has made a store is the one that serves it: it has the lock already.
    let (file, is_new) = match start.create.then(|| publish(make(path)?, path)) {
        None | Some(Err(StoreError::Exists(_))) => (file::open(path)?, false),
        Some(made) => (made?, true),
    };
    lock(&file, path)?;
    let store = Sqlite::over(path, file, Some(start))?;
    store.begin()?;
    Ok((store, is_new))
}

/// See [`crate::open`].
pub fn open(path: &Path) -> Result<Sqlite, StoreError> {
    Sqlite::over(path, file::open(path)?, None)
}

/// See [`crate::fill`].
pub fn fill(
    path: &Path,
    fill: &mut dyn FnMut(&dyn Engine) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let new = make(path)?;
    let store = Sqlite::over(new.path(), file::open(new.path())?, Some(Start::default()))?;
    // Nobody needs a new store before it is published, which syncs the file.
    store.writer.lock().connection.pragma_update(None, "synchronous", "off")?;
    let filled = fill(&store).and_then(|()| store.close().context(CREATE));
    drop(store);
    if filled.is_err() {
        // SQLite leaves the WAL where it is if the disk is full.
        remove_beside(new.path());
    }
    filled?;
    anyhow::ensure!(is_empty_wal(new.path()), "cannot {CREATE}: its WAL was not copied");
    publish(new, path)?;
    Ok(())
}

impl Sqlite {
    /// Opens the store in that file: for a server, or for a command if there is no `start`.
    fn over(path: &Path, file: File, start: Option<Start>) -> Result<Self, StoreError> {
        let in_file = || match Header::of_file(&file).map_err(failed(OPEN))? {
            None => Err(StoreError::NotAPlantStore(url(path))),
            Some(header) if header.layout == LAYOUT => Ok(header),
            Some(it) => Err(StoreError::OtherLayout { url: url(path), found: it.layout.into() }),
        };
        let header = in_file()?;
        let wal = wal_of(path).display().to_string();
        // Asked twice, because a server may stop meanwhile, which removes the WAL.
        if !start.is_some_and(|it| it.without_wal)
            && header.is_open
            && is_empty_wal(path)
            && in_file()?.is_open
        {
            return Err(StoreError::WalLost { url: url(path), wal });
        }
        let writer = connect(path).map_err(failed(OPEN))?;
        if Header::of(&writer).map_err(failed(OPEN))?.is_none_or(|it| it.id != header.id) {
            return Err(StoreError::ForeignFile { url: url(path), file: wal });
        }
        let reader = connect(path).map_err(failed(OPEN))?;
        let place = Place::of(path, &file).map_err(failed(OPEN))?;
        let writer = Writer { connection: writer, header, checkpointed: 0 }.into();
        let reader = reader.into();
        Ok(Self { writer, reader, place, header, is_owner: start.is_some(), _file: file })
    }

    /// Steps 2 and 3 of a server.
    fn begin(&self) -> Result<(), StoreError> {
        const COPY: &str = "copy the store's WAL into its file";
        let mut writer = self.writer.lock();
        let was_open =
            Header::of(&writer.connection).map_err(failed(OPEN))?.is_none_or(|it| it.is_open);
        writer.set_open(true).map_err(failed(OPEN))?;
        let copied = Checkpoint::Restart.run(&writer.connection).map_err(failed(COPY))?;
        // The WAL of a stopped store is durable; then a later checkpoint may copy the header.
        if was_open && !copied.complete {
            return Err(failed(COPY)("another program reads the store for long; end it first"));
        }
        // SQLite ignores a failure of this fsync.
        sync_folder_of(&wal_of(self.place.path())).map_err(failed(COPY))
    }

    /// Changes the tokens in one transaction. Returns how many.
    fn change_tokens(&self, statement: &str, values: impl Params) -> rusqlite::Result<usize> {
        let mut reader = self.reader.lock();
        // As in step 3, after a crash. Beside a server this does not matter.
        Checkpoint::Restart.run_at_once(&mut reader)?;
        transact(&mut reader, self.header, |transaction| transaction.execute(statement, values))
    }
}

/// An error leaves the WAL as it is.
impl Drop for Sqlite {
    fn drop(&mut self) {
        let (writer, reader) = (&self.writer.get_mut().connection, self.reader.get_mut());
        let is_closed = matches!(Header::of(reader), Ok(Some(Header { is_open: false, .. })));
        let _ = copy_wal_at_close(writer, is_closed);
        let _ = copy_wal_at_close(reader, is_closed);
    }
}

impl Engine for Sqlite {
    fn commit(&self, rows: &[Row], _: Instant) -> Result<Vec<Outcome>, CommitError> {
        self.writer.lock().put(rows).map_err(|error| match error {
            CommitError::Unavailable(cause) if reason(&cause) == Reason::Full => {
                let store = url(self.place.path()).absolute();
                let said = format!("{store}: {cause}: see server/RESTORE.md#rescue");
                CommitError::Unavailable(said.into())
            }
            other => other,
        })
    }

    fn upkeep(&self) -> Result<(), CommitError> {
        self.writer.lock().checkpoint_if_long()
    }

    fn page(&self, after: Option<i64>) -> Result<Vec<Row>, StoreError> {
        tables::page(&self.reader.lock(), after).map_err(failed("read the plants"))
    }

    fn tokens(&self) -> Result<Vec<StoredToken>, StoreError> {
        tables::tokens(&self.reader.lock()).map_err(failed("read the tokens"))
    }

    fn add_token(&self, token: &StoredToken) -> Result<(), StoreError> {
        let StoredToken { name, digest, first_characters, created_at, expires_at } = token;
        let (created_at, expires_at) =
            (created_at.timestamp(), expires_at.map(|it| it.timestamp()));
        let row = (name.as_str(), digest.0, first_characters, created_at, expires_at);
        match self.change_tokens(token_row::ADD, row) {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                Err(StoreError::TokenNameTaken(name.clone()))
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
        tables::faults(&self.reader.lock()).map_err(failed("check the store"))
    }

    fn sizes(&self) -> Result<Sizes, CommitError> {
        let sizes = self.place.sizes()?;
        if !self.is_owner || sizes.wal <= Some(WAL_BOUND.into()) {
            return Ok(sizes);
        }
        shorten(self.place.path(), self.header)?;
        self.place.sizes()
    }

    /// Steps 4 and 5 of a server.
    fn close(&self) -> Result<(), CommitError> {
        if !self.is_owner {
            return Ok(());
        }
        self.place.sizes()?;
        let mut writer = self.writer.lock();
        Checkpoint::Restart.run_at_once(&mut writer.connection)?;
        writer.set_open(false)?;
        Checkpoint::Truncate.run_at_once(&mut writer.connection)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
