//! The plants of a store, a page at a time: by a cursor, from one snapshot, in constant memory,
//! also on a standby (<https://www.postgresql.org/docs/current/sql-declare.html>).

use std::borrow::Borrow;
use std::pin::Pin;

use futures::TryStreamExt;
use tokio_postgres::RowStream;

use crate::store::page::{PLANTS, Page};
use crate::store::postgres::connector::Connector;
use crate::store::postgres::error::PostgresError;
use crate::store::postgres::reconnecting_session::{ReconnectingSession, until};
use crate::store::postgres::row;
use crate::store::postgres::schema;
use crate::store::postgres::session::Session;
use crate::types::NewPlant;

const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

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

/// How many plants there are.
pub fn count(session: &LongSession) -> Result<u64, PostgresError> {
    let count = async |session: &Session| session.row("SELECT count(*) FROM plants").await;
    Ok(session.run(count)?.try_get::<_, i64>(0)?.unsigned_abs())
}

/// Plants in the order of their ids.
pub struct PostgresPages<S> {
    session: S,
    rows: Option<Pin<Box<RowStream>>>,
    /// How many of these rows there were.
    read: usize,
    has_ended: bool,
}

impl PostgresPages<LongSession> {
    /// From a transaction of its own.
    pub fn open(driver: ReconnectingSession) -> Result<Self, PostgresError> {
        let session = LongSession::connect(driver)?;
        session.run(async |session| session.client.batch_execute(BEGIN).await)?;
        Self::declare(session)
    }
}

impl<S: Borrow<LongSession>> PostgresPages<S> {
    /// From the transaction that is open.
    pub fn declare(session: S) -> Result<Self, PostgresError> {
        session.borrow().run(async |session| {
            let held = schema::columns_of_plants(session).await?;
            let declare = format!("DECLARE pages NO SCROLL CURSOR FOR {}", row::in_order(&held));
            Ok::<_, PostgresError>(session.client.batch_execute(&declare).await?)
        })?;
        Ok(Self { session, rows: None, read: 0, has_ended: false })
    }

    fn read(&mut self) -> Result<Vec<NewPlant>, PostgresError> {
        let Self { session, rows, read, has_ended } = self;
        let session: &LongSession = (*session).borrow();
        session.run(async |session| {
            let mut page = Page::default();
            // The rows that were asked for and do not fit the page wait in the socket.
            while !page.is_full() && !*has_ended {
                let stream = if let Some(stream) = rows {
                    stream
                } else {
                    let fetch = format!("FETCH {PLANTS} FROM pages");
                    let no_values: [(i64, _); 0] = [];
                    let stream = session.client.query_typed_raw(&fetch, no_values).await?;
                    *read = 0;
                    rows.insert(Box::pin(stream))
                };
                if let Some(row) = stream.try_next().await? {
                    page.push(row::plant(&row)?);
                    *read += 1;
                } else {
                    *has_ended = *read < PLANTS;
                    *rows = None;
                }
            }
            Ok(page.plants)
        })
    }
}

impl<S: Borrow<LongSession>> Iterator for PostgresPages<S> {
    type Item = Result<Vec<NewPlant>, PostgresError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_ended {
            return None;
        }
        let page = self.read();
        self.has_ended |= page.is_err();
        Some(page)
    }
}
