//! SQLite: the embedded engine.
//!
//! Write-ahead log and `synchronous=FULL`: a commit returns when the WAL is synced, and that makes
//! it durable (<https://sqlite.org/pragma.html#pragma_synchronous>).
//!
//! SQLite uses any WAL that has the right name, and none if it is missing. So a WAL must have the
//! id of its file, and a file that is open must have a WAL that is not empty (`header.rs`). The
//! steps of a server keep both true, whenever it is killed:
//!
//! 1. A stopped store is closed in its file. Its WAL may have any length.
//! 2. The first commit sets "open", in the WAL alone. The file is still closed.
//! 3. A checkpoint copies that into the file. SQLite syncs the WAL before, and the WAL keeps its
//!    pages: while the store is open, no checkpoint may truncate it.
//! 4. A checkpoint copies all plants into the file. Then the last commit sets "closed", in the WAL
//!    alone: a checkpoint copies the first page first, and a closed file must not need its WAL.
//! 5. A checkpoint copies that into the file, syncs the file, and empties the WAL then. If a reader
//!    is in the way of this checkpoint or of the one before, the file stays open and the WAL stays.
//!    "Closed" is in that WAL: if another program is the last to use the store, SQLite copies the
//!    WAL and removes it, and the next start must not miss it.
//! 6. The last connection of the service removes the WAL, if the store is closed in its file.
//!
//! The checkpoint of step 3 is also what makes the WAL of a crash durable. Its pages may have been
//! dropped after a failed fsync, and the next commits are not written behind them: the WAL
//! starts over.
//!
//! While a connection of this process is open, nothing but SQLite may close the store's file:
//! closing any descriptor of it drops SQLite's locks
//! (<https://sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_>).

mod connection;
mod create;
mod error;
mod files;
mod header;
mod opened_files;
mod store;
mod tables;
mod writer;

pub use create::unfinished;

use std::fs::File;
use std::path::Path;

use anyhow::Context;

use crate::engine::{Engine, Served, Start};
use crate::error::StoreError;
use crate::sqlite::create::{CREATE, create, make, publish};
use crate::sqlite::error::url;
use crate::sqlite::files::{is_empty_wal, lock, remove_beside, wal_of};
use crate::sqlite::store::{Role, Sqlite, header_of};

/// See [`crate::serve`].
pub fn serve(path: &Path, start: Start) -> Result<Served<Sqlite>, StoreError> {
    let StoreFile { file, is_new } = if start.create {
        create_or_open(path)?
    } else {
        StoreFile { file: files::open(path)?, is_new: false }
    };
    // A new file has the lock already: then this does nothing (flock(2)).
    lock(&file, path)?;
    if !start.without_wal {
        require_wal(path, &file)?;
    }
    let store = Sqlite::open_file(path, file, Role::Owner)?;
    store.begin()?;
    Ok(Served { store, is_new })
}

/// The file of a store that is to be served.
struct StoreFile {
    file: File,
    /// Whether this start has created it.
    is_new: bool,
}

/// Creates the file, or opens the one that is there. The server that has created a store is the one
/// that serves it: it has the lock already.
fn create_or_open(path: &Path) -> Result<StoreFile, StoreError> {
    match create(path) {
        Err(StoreError::Exists(_)) => Ok(StoreFile { file: files::open(path)?, is_new: false }),
        created => Ok(StoreFile { file: created?, is_new: true }),
    }
}

/// See [`crate::open`].
pub fn open(path: &Path) -> Result<Sqlite, StoreError> {
    let file = files::open(path)?;
    require_wal(path, &file)?;
    Sqlite::open_file(path, file, Role::Guest)
}

/// See [`crate::fill`].
pub fn fill(
    path: &Path,
    fill: &mut dyn FnMut(&dyn Engine) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let new = make(path)?;
    let store = Sqlite::open_file(new.path(), files::open(new.path())?, Role::Owner)?;
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

/// Fails if the file needs its WAL, and there is none.
fn require_wal(path: &Path, file: &File) -> Result<(), StoreError> {
    let is_lost = || Ok(header_of(path, file)?.is_open && is_empty_wal(path));
    // Asked twice, because a server may stop meanwhile, which removes the WAL.
    if is_lost()? && is_lost()? {
        let wal = wal_of(path).display().to_string();
        return Err(StoreError::WalLost { url: url(path), wal });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
