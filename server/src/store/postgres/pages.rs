//! The plants of a store, a page at a time, in constant memory, also from a standby.
//!
//! They are the rows of one statement, so they are one snapshot. The rows that were not read yet wait
//! in the socket, and then in the database.

use std::pin::Pin;

use futures::TryStreamExt;
use tokio_postgres::RowStream;

use crate::store::page::Page;
use crate::store::postgres::connector::Connector;
use crate::store::postgres::error::PostgresError;
use crate::store::postgres::reconnecting_session::{ReconnectingSession, until};
use crate::store::postgres::row;
use crate::store::postgres::session::Session;
use crate::types::NewPlant;

/// A session for work that may take long: it has no time-out, and does not reconnect.
pub struct LongSession {
    // Dropped in this order.
    session: Session,
    /// Its runtime is that of the session.
    driver: ReconnectingSession,
}

impl LongSession {
    pub fn connect(driver: ReconnectingSession) -> Result<Self, PostgresError> {
        let connect = async |connector: &Connector| connector.connect_to_any().await;
        let session = driver.connect(until(), connect)?;
        Ok(Self { session, driver })
    }

    /// Runs something to its end. Keep-alive notices if the database is gone.
    pub fn run<T>(&self, work: impl AsyncFnOnce(&Session) -> T) -> T {
        self.driver.block_on(work(&self.session))
    }
}

/// Plants in the order of their ids.
pub struct PostgresPages {
    session: LongSession,
    /// None after the last row, or after an error.
    rows: Option<Pin<Box<RowStream>>>,
}

impl PostgresPages {
    pub fn open(driver: ReconnectingSession) -> Result<Self, PostgresError> {
        let session = LongSession::connect(driver)?;
        let rows = session.run(async |session| {
            let no_values: [(i64, _); 0] = [];
            session.client.query_typed_raw(&row::in_order(), no_values).await
        })?;
        Ok(Self { session, rows: Some(Box::pin(rows)) })
    }
}

impl Iterator for PostgresPages {
    type Item = Result<Vec<NewPlant>, PostgresError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut rows = self.rows.take()?;
        let page = self.session.run(async |_| {
            let mut page = Page::default();
            while !page.is_full() {
                let Some(row) = rows.try_next().await? else { return Ok((page, None)) };
                page.push(row::plant(&row)?);
            }
            Ok((page, Some(rows)))
        });
        Some(page.map(|(page, rows)| {
            self.rows = rows;
            page.plants
        }))
    }
}
