//! The mark tells whether a WAL belongs to the file beside it, and whether there has to be a WAL at
//! all.
//!
//! SQLite's own header of a WAL says nothing of the file. So SQLite uses a WAL that was left beside
//! another file, or beside an older copy of its own file, and the store is corrupt
//! (<https://sqlite.org/howtocorrupt.html#_unlinking_or_renaming_a_database_file_while_in_use>).
//! If the WAL is missing, SQLite reads the file alone, without the last plants.
//!
//! The table `log_mark` has one row. Each new WAL copies the row's `current` into `base`, and sets
//! `current` to a new random id:
//!
//! ```text
//! file   current = A ─── first WAL   base = A, current = B
//!                          │ is copied into the file
//! file   current = B ─── next WAL    base = B, current = C
//! ```
//!
//! A file belongs to a WAL if the file's row, read without the WAL, has the WAL's `base` as
//! `current`; or if the two rows are the same, because the WAL's was copied already. `store` is a
//! random id of the store. `open` is set in the file as long as a server may have its WAL beside it.
//!
//! A WAL must have one mark at most. With a second one its `base` would be the first one's
//! `current`, which the file may not have, and a sound store would be refused.

use rusqlite::{Connection, OptionalExtension, Row, Transaction};

use crate::store::sqlite::schema;

/// The row of `log_mark`.
#[derive(Clone, PartialEq, Eq)]
pub struct Mark {
    store: Vec<u8>,
    /// Empty in a store that was just brought up from a version without marks.
    base: Vec<u8>,
    current: Vec<u8>,
    /// Whether a server may have a WAL beside the file.
    pub open: bool,
}

impl Mark {
    /// The mark that the connection sees; none if there is no table for it.
    pub fn read(connection: &Connection) -> rusqlite::Result<Option<Self>> {
        if !connection.table_exists(None, "log_mark")? {
            return Ok(None);
        }
        let mark = |row: &Row<'_>| {
            let (store, base) = (row.get(0)?, row.get(1)?);
            Ok(Self { store, base, current: row.get(2)?, open: row.get(3)? })
        };
        let row = "SELECT store, base, current, open FROM log_mark";
        connection.query_row(row, [], mark).optional()
    }

    /// Marks the WAL to which the transaction is written. It must not have a mark yet.
    ///
    /// It writes the first page too, so that the WAL says itself where its tables are, whatever file
    /// it is put beside.
    pub fn write(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        transaction.execute("UPDATE log_mark SET base = current, current = randomblob(16)", [])?;
        schema::touch(transaction)
    }

    /// Says whether a server may have a WAL beside the file.
    pub fn set_open(transaction: &Transaction<'_>, open: bool) -> rusqlite::Result<()> {
        transaction.execute("UPDATE log_mark SET open = ?1", [open]).map(drop)
    }

    /// The page that holds the row.
    pub fn page(connection: &Connection) -> rusqlite::Result<u32> {
        let row = "SELECT rootpage FROM sqlite_schema WHERE name = 'log_mark'";
        connection.query_row(row, [], |row| row.get(0))
    }

    /// Whether a WAL with this mark belongs to a file with that one; none if the file has no table
    /// for it yet.
    pub fn belongs_to(&self, file: Option<&Self>) -> bool {
        match file {
            None => self.base.is_empty(),
            Some(file) => {
                self.store == file.store
                    && (self.current == file.current || self.base == file.current)
            }
        }
    }
}
