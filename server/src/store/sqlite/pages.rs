//! The plants of a store, a page at a time.

use std::borrow::Borrow;

use rusqlite::Connection;

use crate::store::error::StoreError;
use crate::store::page::Page;
use crate::store::sqlite::error::failed;
use crate::store::sqlite::row;
use crate::types::NewPlant;

/// Reads each page in a transaction of its own, so the WAL may start over between two of them.
pub struct SqlitePages<C> {
    connection: C,
    /// The least id of the next page; none after the last one.
    next: Option<i64>,
}

impl<C: Borrow<Connection>> SqlitePages<C> {
    pub fn new(connection: C) -> Self {
        Self { connection, next: Some(i64::MIN) }
    }

    fn read(&self, from: i64) -> rusqlite::Result<Vec<NewPlant>> {
        let connection: &Connection = self.connection.borrow();
        let mut statement = row::from_id(connection)?;
        let mut rows = statement.query([from])?;
        let mut page = Page::default();
        while !page.is_full()
            && let Some(row) = rows.next()?
        {
            page.push(row::plant(row)?);
        }
        Ok(page.plants)
    }
}

impl<C: Borrow<Connection>> Iterator for SqlitePages<C> {
    type Item = Result<Vec<NewPlant>, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        // Ends after a page that is empty, or that failed.
        let from = self.next.take()?;
        let page = self.read(from).map_err(failed("read the plants"));
        let last = page.as_ref().ok().and_then(|page| page.last());
        self.next = last.and_then(|last| last.id.checked_add(1));
        Some(page)
    }
}

/// How many plants there are.
pub fn count(connection: &Connection) -> Result<u64, StoreError> {
    connection
        .query_row("SELECT count(*) FROM plants", [], |row| row.get::<_, i64>(0))
        .map(i64::unsigned_abs)
        .map_err(failed("count the plants"))
}
