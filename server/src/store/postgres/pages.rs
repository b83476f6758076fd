//! The plants of a store, a page at a time: by a cursor, from one snapshot, in constant memory,
//! also on a standby (<https://www.postgresql.org/docs/current/sql-declare.html>).

use std::borrow::Borrow;
use std::pin::Pin;

use futures::TryStreamExt;
use tokio_postgres::RowStream;

use crate::store::postgres::connector::Connector;
use crate::store::postgres::error::PostgresError;
use crate::store::postgres::link::{Link, until};
use crate::store::postgres::row;
use crate::store::postgres::session::Session;
use crate::types::NewPlant;

/// How many plants a page has at most, and how many are asked for at a time.
const PLANTS: usize = 1000;

/// How many bytes of texts end a page. The rows that were asked for beyond it wait in the socket.
const BYTES: usize = 1024 * 1024;

const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// A session with the link that drives it.
pub struct Open {
    // Dropped in this order.
    pub session: Session,
    pub link: Link,
}

impl Open {
    pub fn connect(link: Link) -> Result<Self, PostgresError> {
        let connect = async |connector: &Connector| connector.connect_to_any().await;
        let session = link.connect(until(), connect)?;
        Ok(Self { session, link })
    }

    /// Runs something to its end, however long it takes. Keep-alive notices where the database is
    /// gone.
    pub fn run<T>(&self, work: impl AsyncFnOnce(&Session) -> T) -> T {
        self.link.block_on(work(&self.session))
    }
}

/// How many plants there are.
pub fn count(open: &Open) -> Result<u64, PostgresError> {
    let count = async |session: &Session| session.row("SELECT count(*) FROM plants").await;
    Ok(open.run(count)?.try_get::<_, i64>(0)?.unsigned_abs())
}

/// Plants in the order of their ids.
pub struct PostgresPages<O> {
    open: O,
    rows: Option<Pin<Box<RowStream>>>,
    /// How many of these rows there were.
    read: usize,
    has_ended: bool,
}

impl PostgresPages<Open> {
    /// From a transaction of its own.
    pub fn open(link: Link) -> Result<Self, PostgresError> {
        let open = Open::connect(link)?;
        open.run(async |session| session.client.batch_execute(BEGIN).await)?;
        Self::declare(open)
    }
}

impl<O: Borrow<Open>> PostgresPages<O> {
    /// From the transaction that is open.
    pub fn declare(open: O) -> Result<Self, PostgresError> {
        let declare = format!("DECLARE pages NO SCROLL CURSOR FOR {}", row::in_order());
        open.borrow().run(async |session| session.client.batch_execute(&declare).await)?;
        Ok(Self { open, rows: None, read: 0, has_ended: false })
    }

    fn read(&mut self) -> Result<Vec<NewPlant>, PostgresError> {
        let Self { open, rows, read, has_ended } = self;
        let open: &Open = (*open).borrow();
        open.run(async |session| {
            let (mut page, mut bytes) = (Vec::new(), 0);
            while page.len() < PLANTS && bytes < BYTES && !*has_ended {
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
                    let plant = row::plant(&row)?;
                    bytes += plant.size();
                    page.push(plant);
                    *read += 1;
                } else {
                    *has_ended = *read < PLANTS;
                    *rows = None;
                }
            }
            Ok(page)
        })
    }
}

impl<O: Borrow<Open>> Iterator for PostgresPages<O> {
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
