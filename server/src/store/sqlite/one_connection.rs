//! A store that has one connection, and that nobody writes while it is read.

use rusqlite::Connection;

use crate::store::engine::{Contents, Pages};
use crate::store::error::StoreError;
use crate::store::sqlite::pages::{SqlitePages, count};
use crate::store::sqlite::tokens;
use crate::token::StoredToken;

pub trait OneConnection {
    fn connection(&self) -> &Connection;
}

impl<S: OneConnection> Contents for S {
    fn count(&self) -> Result<u64, StoreError> {
        count(self.connection())
    }

    fn plants(&self) -> Result<Pages<'_>, StoreError> {
        Ok(Box::new(SqlitePages::new(self.connection())))
    }

    fn tokens(&self) -> Result<Vec<StoredToken>, StoreError> {
        tokens::all(self.connection())
    }
}
