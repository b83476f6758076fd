//! The mark that tells whether a write-ahead log belongs to the file beside which it lies.
//!
//! SQLite's own header of a log has nothing of the file, so a log that was left beside another
//! file, or beside an older copy of its own, is adopted, and the store is corrupt
//! (<https://sqlite.org/howtocorrupt.html#_unlinking_or_renaming_a_database_file_while_in_use>).
//!
//! So each log of a server carries a mark, in the row of the table `log_mark`: a random `current`,
//! and `base`, which was the `current` before. Only a log writes the row, and each log once. So a
//! file belongs to a log when its own row, without the log, has the log's `base`, or its `current`
//! where the row was copied already. The row also has a random id of the store.
//!
//! A log without a mark is taken as it is: one of a command that changed a token while no server
//! ran, or one of which a crash left less than its first transaction.

use rusqlite::{Connection, OptionalExtension, Transaction};

/// The row of `log_mark`.
#[derive(Clone, PartialEq, Eq)]
pub struct Mark {
    store: Vec<u8>,
    base: Vec<u8>,
    current: Vec<u8>,
}

impl Mark {
    /// The mark that the connection sees; none where there is no table for it.
    pub fn read(connection: &Connection) -> rusqlite::Result<Option<Self>> {
        let is_there = connection.table_exists(None, "log_mark")?;
        let mark = || {
            let row = "SELECT store, base, current FROM log_mark";
            connection.query_row(row, [], |row| {
                Ok(Self { store: row.get(0)?, base: row.get(1)?, current: row.get(2)? })
            })
        };
        Ok(if is_there { mark().optional()? } else { None })
    }

    /// Marks the log to which the transaction is written.
    pub fn write(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        transaction
            .prepare_cached("UPDATE log_mark SET base = current, current = randomblob(16)")?
            .execute([])
            .map(drop)
    }

    /// Whether a log with this mark belongs to a file with that one.
    pub fn belongs_to(&self, file: &Self) -> bool {
        let is_marked = self != file;
        !is_marked || (self.store == file.store && self.base == file.current)
    }
}
