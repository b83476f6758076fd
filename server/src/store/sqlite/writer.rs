//! The one connection that writes plants.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

use rusqlite::hooks::Wal;
use rusqlite::wal::CheckpointMode;
use rusqlite::{CachedStatement, Connection, params};

use crate::store::engine::{Cause, CommitError, Outcome, StoreError, Writer};
use crate::store::sqlite::connection::{connect, log_of};
use crate::store::sqlite::error::failed;
use crate::types::NewPlant;

/// Pages of the log after which it is copied into the database: SQLite's own default, 4 MiB
/// (<https://sqlite.org/c3ref/wal_autocheckpoint.html>). With more pages a create costs the same,
/// on 10 million plants too, and the slowest creates take longer.
const CHECKPOINT_PAGES: i32 = 1000;

pub struct SqliteWriter {
    connection: Connection,
    /// The length of the log, in pages, after the last commit.
    log_pages: Arc<AtomicI32>,
    /// Its length at the last checkpoint. While a reader keeps the log from starting over, the next
    /// checkpoint comes after [`CHECKPOINT_PAGES`] more.
    checkpointed: i32,
}

impl SqliteWriter {
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let mut connection = connect(path).map_err(failed("open the store for writing"))?;
        renew_log(&mut connection, path).map_err(failed("renew the store's log"))?;
        let log_pages = Arc::new(AtomicI32::new(0));
        let counter = Arc::clone(&log_pages);
        connection
            .wal_hook(Some(move |_: &mut Wal, pages| {
                counter.store(pages, Relaxed);
                Ok(())
            }))
            .map_err(failed("watch the store's log"))?;
        Ok(Self { connection, log_pages, checkpointed: 0 })
    }
}

impl Writer for SqliteWriter {
    fn commit(&mut self, plants: &[NewPlant]) -> Result<Vec<Outcome>, CommitError> {
        let transaction = self.connection.transaction()?;
        let mut outcomes = Vec::with_capacity(plants.len());
        {
            let mut insert = transaction.prepare_cached(
                "INSERT INTO plants (id, name, tag) VALUES (?1, ?2, ?3) \
                 ON CONFLICT (id) DO NOTHING",
            )?;
            let mut same = transaction
                .prepare_cached("SELECT name = ?2 AND tag IS ?3 FROM plants WHERE id = ?1")?;
            for plant in plants {
                outcomes.push(put(&mut insert, &mut same, plant)?);
            }
        }
        transaction.commit()?;
        Ok(outcomes)
    }

    fn maintain(&mut self) -> Result<(), CommitError> {
        let pages = self.log_pages.load(Relaxed);
        if pages < self.checkpointed {
            self.checkpointed = 0;
        }
        if pages - self.checkpointed >= CHECKPOINT_PAGES {
            self.checkpointed = pages;
            self.connection.wal_checkpoint_v2(None::<&str>, CheckpointMode::PASSIVE)?;
        }
        Ok(())
    }
}

fn put(
    insert: &mut CachedStatement<'_>,
    same: &mut CachedStatement<'_>,
    NewPlant { id, name, tag }: &NewPlant,
) -> rusqlite::Result<Outcome> {
    if insert.execute(params![id, name, tag])? == 1 {
        return Ok(Outcome::Created);
    }
    let same: bool = same.query_row(params![id, name, tag], |row| row.get(0))?;
    Ok(if same { Outcome::Repeated } else { Outcome::Conflict })
}

/// Makes durable what the log holds, before anything is answered or written after it.
///
/// A killed process may not have reached its fsync. After an fsync that failed, the kernel may have
/// marked pages clean that are not on the disk (<https://lwn.net/Articles/752063/>), so another
/// fsync alone proves nothing. Rewriting the bytes marks the pages dirty again, so the next fsync
/// really writes them.
fn renew_log(connection: &mut Connection, path: &Path) -> Result<(), Cause> {
    // With the write lock, no other process appends to the log or starts it over.
    let _lock = connection.transaction()?;
    let path = log_of(path)?;
    let log = File::options().read(true).write(true).open(&path)?;
    let mut piece = vec![0; 1024 * 1024];
    let mut offset = 0;
    while let read @ 1.. = log.read_at(&mut piece, offset)? {
        log.write_all_at(&piece[..read], offset)?;
        offset += read as u64;
    }
    log.sync_all()?;
    // The names of the store and of its log are durable once their folder is synced. SQLite
    // ignores a failure of that fsync.
    Ok(File::open(path.parent().unwrap_or(&path))?.sync_all()?)
}

#[cfg(test)]
mod tests;
