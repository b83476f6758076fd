//! All plants of one moment.

use std::io;

use rusqlite::Connection;

use crate::store::engine::{Snapshot, StoreError};
use crate::store::sqlite::error::failed;
use crate::types::NewPlant;

/// A connection inside a read transaction, which ends with it.
pub struct SqliteSnapshot(Connection);

impl SqliteSnapshot {
    /// Begins the transaction, and with its first read fixes the view.
    pub fn begin(connection: Connection) -> rusqlite::Result<Self> {
        // `BEGIN` alone takes no view; the first read does
        // (<https://sqlite.org/lang_transaction.html>).
        connection.execute_batch("BEGIN DEFERRED; SELECT 1 FROM plants LIMIT 1")?;
        Ok(Self(connection))
    }
}

impl Snapshot for SqliteSnapshot {
    fn count(&self) -> Result<u64, StoreError> {
        self.0
            .query_row("SELECT count(*) FROM plants", [], |row| row.get::<_, i64>(0))
            .map(i64::unsigned_abs)
            .map_err(failed("count the plants"))
    }

    fn visit(&self, visitor: &mut dyn FnMut(NewPlant) -> io::Result<()>) -> Result<(), StoreError> {
        let read = failed("read the plants");
        let mut statement =
            self.0.prepare("SELECT id, name, tag FROM plants ORDER BY id").map_err(&read)?;
        let mut rows = statement.query([]).map_err(&read)?;
        while let Some(row) = rows.next().map_err(&read)? {
            let plant = NewPlant {
                id: row.get(0).map_err(&read)?,
                name: row.get(1).map_err(&read)?,
                tag: row.get(2).map_err(&read)?,
            };
            visitor(plant).map_err(StoreError::Visit)?;
        }
        Ok(())
    }
}
