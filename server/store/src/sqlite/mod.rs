//! SQLite: the embedded engine. A store is an ordinary SQLite database, and SQLite's own tools work
//! on it.
//!
//! Write-ahead log and `synchronous=FULL`: a commit returns when the WAL is synced, and that makes
//! it durable (<https://sqlite.org/pragma.html#pragma_synchronous>).
//!
//! A server takes the lock of the file, opens it, and copies the WAL into it with a sync before it
//! answers anything (`wal.rs`). A stop copies the WAL again.
//!
//! While a connection of this process is open, nothing but SQLite may close the store's file:
//! closing any descriptor of it drops SQLite's locks
//! (<https://sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_>).

mod connection;
mod error;
mod files;
mod new_file;
mod opened_files;
mod place;
mod plants;
mod read_only;
mod schema;
mod store;
mod tokens;
mod wal;

pub use new_file::unfinished;
pub use place::Place;

use std::fs::File;
use std::path::Path;

use crate::engine::{Engine, Served, Start};
use crate::error::StoreError;
use crate::sqlite::error::{is_damaged, is_unwritable};
use crate::sqlite::files::{is_empty_wal, lock, remove_beside};
use crate::sqlite::new_file::{MAKE, make, publish};
use crate::sqlite::store::Sqlite;

/// See [`crate::open_to_serve`].
pub fn open_to_serve(path: &Path, start: Start) -> Result<Served<Sqlite>, StoreError> {
    let StoreFile { file, is_new } = if start.make {
        make_or_open(path)?
    } else {
        StoreFile { file: files::open(path)?, is_new: false }
    };
    // A new file has the lock already: then this does nothing (flock(2)).
    lock(&file, path)?;
    let mut store = Sqlite::open(path, file)?;
    store.begin()?;
    Ok(Served { store, is_new })
}

/// The file of a store that is to be served.
struct StoreFile {
    file: File,
    /// Whether this start has made it.
    is_new: bool,
}

/// Makes the file, or opens the one that is there. The server that has made a store is the one that
/// serves it: it has the lock already.
fn make_or_open(path: &Path) -> Result<StoreFile, StoreError> {
    match make(path).and_then(|file| publish(file, path)) {
        Err(StoreError::Exists(_)) => Ok(StoreFile { file: files::open(path)?, is_new: false }),
        made => Ok(StoreFile { file: made?, is_new: true }),
    }
}

/// See [`crate::try_to_make`].
pub fn try_to_make(path: &Path) -> Result<(), StoreError> {
    make(path).map(drop)
}

/// See [`crate::open`].
pub fn open(path: &Path) -> Result<Sqlite, StoreError> {
    Sqlite::open(path, files::open(path)?)
}

/// See [`crate::open_to_read`].
pub fn open_to_read(path: &Path) -> Result<Box<dyn Engine>, StoreError> {
    // SQLite makes the WAL's index when it reads for the first time.
    let opened = open(path).and_then(|store| match store.page(None, 1) {
        Err(error) if is_unwritable(&error) => Err(error),
        _ => Ok(store),
    });
    match opened {
        Err(error) if is_unwritable(&error) => match read_only::open(path) {
            Ok(store) => Ok(Box::new(store)),
            Err(_) => Err(error),
        },
        opened => Ok(Box::new(opened?)),
    }
}

/// See [`crate::open_damaged`].
pub fn open_damaged(path: &Path) -> Result<Box<dyn Engine>, StoreError> {
    match open_to_read(path) {
        Err(error) if is_damaged(&error) => Ok(Box::new(read_only::open_short(path)?)),
        opened => opened,
    }
}

/// See [`crate::fill`].
pub fn fill(
    path: &Path,
    fill: &mut dyn FnMut(&dyn Engine) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let new = make(path)?;
    let mut store = Sqlite::open(new.path(), files::open(new.path())?)?;
    // Nobody needs a new store before it is published, which syncs the file.
    store.sync_nothing()?;
    let filled = fill(&store).and_then(|()| Ok(store.close().map(drop)?));
    drop(store);
    if filled.is_err() {
        // SQLite leaves the WAL where it is if the disk is full.
        remove_beside(new.path());
    }
    filled?;
    anyhow::ensure!(is_empty_wal(new.path()), "cannot {MAKE}: its WAL was not copied");
    publish(new, path)?;
    Ok(())
}

#[cfg(test)]
mod tests;
